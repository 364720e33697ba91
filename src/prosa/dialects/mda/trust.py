"""Which signatures make an MDA document trusted (§13): the policy of a user, and the decision over signatures that were
verified. Nothing is verified here, and nothing is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias, TypedDict, cast

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Mapping as Object
from prosa.data import Scalar, Sequence, Value, read_json, to_value
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields
from prosa.dialects.mda.model import MdaModel
from prosa.regex import regex
from prosa.source import Span

Distrust: TypeAlias = Literal[
    "missing-required-integrity",
    "missing-required-signature",
    "integrity-mismatch",
    "signature-digest-mismatch",
    "no-trusted-signature",
    "insufficient-trusted-signatures",
]
"""Why a document is not trusted, in the words of §13-5."""

WORDS: Mapping[Distrust, str] = {
    "missing-required-integrity": "it has no `integrity`",
    "missing-required-signature": "it is not signed",
    "integrity-mismatch": "its digest does not match the document",
    "signature-digest-mismatch": "a signature is of another digest",
    "no-trusted-signature": "no signature was verified that the policy trusts",
    "insufficient-trusted-signatures": "fewer of its signers are trusted than the policy demands",
}


class Identity(Struct, frozen=True, order=True):
    """Who signed: the domain of a `did-web` signer, or the issuer and the subject of one of Sigstore."""

    type: str
    issuer: str
    subject: str = ""


class TrustPolicy(Struct, frozen=True):
    """``least`` distinct identities out of ``trusted`` have to have signed."""

    trusted: frozenset[Identity]
    least: int = 1

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains of its `did-web` signers."""
        return tuple(sorted(identity.issuer for identity in self.trusted if identity.type == "did-web"))


_DOMAIN = regex(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_URI = regex(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


def _domain(text: str) -> str | None:
    return None if _DOMAIN.fullmatch(text) else "must be a domain"


def _uri(text: str) -> str | None:
    return None if _URI.fullmatch(text) else "must be an absolute URL"


def _filled(text: str) -> str | None:
    return None if text else "is empty"


_POLICY = (
    Field("version", "integer", required=True, choices=("1",)),
    Field("minSignatures", "integer", form=lambda text: None if int(text) >= 1 else "must be at least 1"),
    Field("trustedSigners", "mappings", required=True),
    Field("rekor", "mapping"),
)
_REKOR = (Field("url", "text", required=True, form=_uri),)
_TYPE = Field("type", "text", required=True, choices=("sigstore-oidc", "did-web"))
_SIGSTORE = (
    _TYPE,
    Field("issuer", "text", required=True, form=_uri, why="an issuer signs for many subjects: name one"),
    Field("subject", "text", required=True, form=_filled, why="an issuer alone does not identify the signer"),
    Field("repository", "text", form=_filled),
    Field("workflow", "text", form=_filled),
    Field("ref", "text", form=_filled),
    Field("jobWorkflowRef", "text", form=_filled),
    Field("environment", "text", form=_filled),
)
"""The last five narrow a subject in releases after 1.0.0-rc.3."""

_DID_WEB = (_TYPE, Field("domain", "text", required=True, form=_domain))


class _Signer(TypedDict, total=False):
    type: str
    domain: str
    issuer: str
    subject: str


class _Policy(TypedDict, total=False):
    trustedSigners: list[_Signer]
    minSignatures: int


def read_policy(text: str) -> tuple[TrustPolicy | None, tuple[Problem, ...]]:
    """Return a policy (§13-4), or None with what is wrong with it."""
    reading = read_json(text)
    if reading.problems or not isinstance(reading.node, Object):
        whole = Problem("json-syntax", "a trust policy is one JSON object", Span(0, 0))
        return None, reading.problems or (whole,)
    problems = tuple(_policy_problems(reading.node))
    if problems:
        return None, problems
    data = cast("_Policy", to_value(reading.node))  # nothing is wrong with it
    trusted = frozenset(
        Identity(signer["type"], signer.get("domain") or signer["issuer"], signer.get("subject", ""))
        for signer in data["trustedSigners"]
    )
    return TrustPolicy(trusted, data.get("minSignatures", 1)), ()


def _policy_problems(node: Object) -> Iterator[Problem]:
    yield from _read(node, _POLICY, "a trust policy")
    signers, rekor = node.entry("trustedSigners"), node.entry("rekor")
    items = signers.value.items if signers is not None and isinstance(signers.value, Sequence) else ()
    if signers is not None and not items:
        yield Problem("wrong-form", "`trustedSigners` names at least one signer", signers.value.span)
    kinds: set[str] = set()
    seen: list[Value] = []
    for item in items:
        if isinstance(item, Object):
            kind = item.get("type")
            kinds.add(kind.text if isinstance(kind, Scalar) else "")
            table = _DID_WEB if isinstance(kind, Scalar) and kind.text == "did-web" else _SIGSTORE
            yield from _read(item, table, "a trusted signer")
            if to_value(item) in seen:
                yield Problem("wrong-form", "this signer is named before", item.span)
            seen.append(to_value(item))
    if rekor is not None and isinstance(rekor.value, Object):
        yield from _read(rekor.value, _REKOR, "`rekor`")
    if "sigstore-oidc" in kinds and rekor is None:
        yield Problem("missing-field", "a policy with signers of Sigstore needs `rekor` with its `url`", node.span)
    elif "sigstore-oidc" not in kinds and rekor is not None:
        yield Problem("unknown-field", "`rekor` is for signers of Sigstore, and there are none", rekor.key.span)


def _read(node: Object, table: tuple[Field, ...], title: str) -> Iterator[Problem]:
    for entry in node:
        if isinstance(entry.value, Scalar) and entry.value.value is None:
            yield Problem("wrong-type", f"`{entry.key.text}` has no value", entry.key.span)
    owner = Owner(title, Span(node.span.start, node.span.start + 1), unknown=Severity.ERROR)
    yield from (replace(problem, severity=Severity.ERROR) for problem in read_fields(node, table, owner)[1])


def distrusted(
    model: MdaModel, policy: TrustPolicy, verified: Mapping[int, Identity], *, matches: bool
) -> Distrust | None:
    """Return why a document is not trusted, None where it is. ``verified`` has the identities of the signatures that
    were verified, by their number; ``matches`` is true where the digest is that of the document."""
    digest = model.integrity("digest")
    if digest is None:
        return "missing-required-integrity"
    if not model.signatures:
        return "missing-required-signature"
    if any(signature.digest != digest.text for signature in model.signatures):
        return "signature-digest-mismatch"
    if not matches:
        return "integrity-mismatch"
    known = {
        identity
        for number, identity in verified.items()
        if identity in policy.trusted and number < len(model.signatures)
    }
    if not known:
        return "no-trusted-signature"
    return "insufficient-trusted-signatures" if len(known) < policy.least else None

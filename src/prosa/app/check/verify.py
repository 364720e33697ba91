"""Verifying the signatures of MDA documents with keys that the user has in files, and deciding by the user's policy
which documents are trusted (X42). Nothing is fetched: no key of a domain, no entry of a log.

In: a checker, groups of documents, keys and a policy. Out: the findings of a check, in which what was verified is not
reported, and what does not verify is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles
from prosa.adapters.signatures import UnusableKey, verifies
from prosa.app.check.check import Checker
from prosa.app.check.gather import Group
from prosa.diagnostics import Diagnostic, Problem, Severity
from prosa.dialects.fields import shown
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.digest import computed
from prosa.dialects.mda.fields import DID_WEB
from prosa.dialects.mda.keys import PublicKey, read_keys, signed_bytes
from prosa.dialects.mda.model import MdaModel, Signature
from prosa.dialects.mda.sidecar import SIDECAR, read_sidecar
from prosa.dialects.mda.trust import WORDS, Identity, TrustPolicy, distrusted, read_policy
from prosa.dialects.table import MDA
from prosa.extras import is_installed, lacking
from prosa.rules.engine import CheckedDocument
from prosa.rules.policy import diagnosed, ordered
from prosa.source import FileProblem, Files, ProsaError

RULE, MISMATCH = "signature-not-verified", "integrity-mismatch"

EXTRA = "signatures"


class UnusableTrust(ProsaError):
    """A file with keys, or a policy, that cannot be used; or the library that verifies is missing."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Trust(Struct, frozen=True):
    """The keys of the user, the policy if there is one, and the time."""

    keys: tuple[PublicKey, ...]
    policy: TrustPolicy | None
    now: datetime


def trust_of(keys: Sequence[str], policy: str | None) -> Trust:
    """Return the keys in files, each `FILE` or `DOMAIN=FILE`, and the policy in another one. Raises `UnusableTrust`
    and `FileProblem`."""
    if keys and not is_installed(EXTRA):
        raise lacking(UnusableTrust, "--keys", EXTRA)
    public_keys: list[PublicKey] = []
    for key in keys:
        domain, mark, name = key.partition("=")
        path = Path(name if mark else key)
        read, problems = read_keys(_text(path), domain if mark else None)
        _refuse(path, problems)
        public_keys += read
    decided = None
    if policy is not None:
        decided, problems = read_policy(_text(Path(policy)))
        _refuse(Path(policy), problems)
    return Trust(tuple(public_keys), decided, datetime.now(UTC))


def _text(path: Path) -> str:
    return RootedFiles(path.parent, named=(path,)).read(path).text


def _refuse(path: Path, problems: Sequence[Problem]) -> None:
    for problem in problems[:1]:
        at = RootedFiles(path.parent, named=(path,)).read(path).position(problem.span.start)
        raise UnusableTrust(f"{path}:{at.line}:{at.column}: {problem.message}")


def verified_diagnostics(checker: Checker, groups: Sequence[Group], trust: Trust) -> tuple[Diagnostic, ...]:
    """Return the findings of all groups, with what became of the signatures."""
    diagnostics = [diagnostic for group in groups for diagnostic in group.project.diagnostics]
    for group in groups:
        checked = checker.check(group, keep=True)
        models = {
            document.front.source.path: document
            for document in checked.documents
            if document.reading.model_of(MDA) is not None
        }
        for diagnostic in checked.diagnostics:
            if diagnostic.path not in models or diagnostic.rule != RULE:
                wrong = diagnostic.path in models and diagnostic.rule == MISMATCH
                diagnostics.append(replace(diagnostic, severity=Severity.ERROR) if wrong else diagnostic)
        policy = replace(checker.profile, settings=group.project.settings, root=group.root).policy
        for document in models.values():
            known = policy(document.real)
            for problem in _problems(document, group.files, trust):
                made = diagnosed((problem,), document.front.source, known)
                diagnostics += (
                    replace(diagnostic, severity=problem.severity or diagnostic.severity) for diagnostic in made
                )
    return ordered(diagnostics)


def _problems(document: CheckedDocument, files: Files, trust: Trust) -> Iterator[Problem]:
    model = document.reading.model_of(MDA)
    assert model is not None
    matches = _matches(model, document, files)
    identities: dict[int, Identity] = {}
    for number, signature in enumerate(model.signatures):
        outcome = _outcome(model, signature, trust, matches=matches)
        if isinstance(outcome, Problem):
            yield outcome
        elif outcome is not None:
            identities[number] = outcome
    if trust.policy is None:
        return
    reason = distrusted(model, trust.policy, identities, matches=matches)
    if reason is not None:
        entry = model.front.fields.entry("signatures") if model.front.fields is not None else None
        span = entry.key.span if entry is not None else model.front.anchor
        note = f"the policy trusts {', '.join(_named(trust.policy))}"
        message = f"the document is not trusted: {WORDS[reason]} ({reason})"
        yield Problem(RULE, message, span, (note,), severity=Severity.ERROR)


def _named(policy: TrustPolicy) -> Iterator[str]:
    for identity in sorted(policy.trusted):
        yield f"`{identity.type}:{identity.issuer}`" + (f" as `{identity.subject}`" if identity.subject else "")


def _matches(model: MdaModel, document: CheckedDocument, files: Files) -> bool:
    """Return whether the digest is that of the document, which for an MCP server is of two files."""
    stored, beside = model.integrity("digest"), None
    if model.is_package:
        try:
            data = read_sidecar(files.read(document.real.parent / SIDECAR).text)
        except FileProblem:
            return False
        beside = canonical(data) if data is not None else b""
    return stored is not None and stored.text == computed(model, beside)


def _outcome(model: MdaModel, signature: Signature, trust: Trust, *, matches: bool) -> Problem | Identity | None:
    """Return the identity whose signature was verified, None where the user says of no domain that the key is its, or
    what speaks against it."""
    domain, signer = signature.signer.removeprefix(DID_WEB), f"`{shown(signature.signer)}`"

    def unknown(why: str) -> Problem:
        message = f"the signature of {signer} is not verified: {why}"
        return Problem(RULE, message, signature.span, severity=Severity.WARNING)

    if not signature.signer.startswith(DID_WEB):
        return unknown("the log of Sigstore is not asked")
    if not matches:
        return unknown("the digest does not match the document")
    keys = [key for key in trust.keys if key.id == signature.key_id and key.domain in (None, domain)]
    if not keys:
        return unknown(f"no key `{shown(signature.key_id)}` of that domain was given")
    faults = [_fault(model, signature, key, trust.now) for key in keys]
    good = next((key for key, fault in zip(keys, faults, strict=True) if not fault), None)
    if good is None:
        message = f"the signature of {signer} does not verify: {faults[0]}"
        return Problem(RULE, message, signature.span, severity=Severity.ERROR)
    domains = trust.policy.domains if trust.policy is not None else ()
    return Identity("did-web", domain) if good.domain is not None or domains == (domain,) else None


def _fault(model: MdaModel, signature: Signature, key: PublicKey, now: datetime) -> str:
    """Return what speaks against a signature under a key; empty for nothing."""
    if key.algorithm != signature.algorithm:
        return f"its key is for {key.algorithm}, and it says {signature.algorithm}"
    if not key.holds(now):
        return "its key is not valid at present"
    try:
        good = verifies(key.algorithm, key.text, signature.signature, signed_bytes(model, signature))
    except UnusableKey as error:
        return f"its key cannot be used: {error}"
    return "" if good else "it is not one of this document under that key"

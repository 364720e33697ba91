"""Digests and signatures of MDA documents (§08, §09), as far as one document shows them, and the files that belong to
it. No key is known here, and nothing is fetched: a signature is not verified (X42)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, Sequence, Value
from prosa.diagnostics import Annotation, Severity
from prosa.dialects.fields import shown, text_of
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.digest import computed
from prosa.dialects.mda.fields import DID_WEB, SIGSTORE
from prosa.dialects.mda.model import MdaModel
from prosa.dialects.mda.sidecar import SIDECAR, read_sidecar, sidecar_faults
from prosa.rules.mda import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import FileProblem


@RULES.document("MA010", "signature-without-integrity", Severity.ERROR)
def signature_without_integrity(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find signatures of a document without a digest (§09-2). The finding points at the name of their field."""
    fields = subject.front.fields
    signatures = fields.entry("signatures") if fields is not None else None
    if signatures is not None and fields is not None and fields.entry("integrity") is None:
        message = "the signatures are of a digest, and the document has no `integrity`"
        notes = ("add `integrity` with its `algorithm` and any digest; `prosa fmt --rehash` writes the right one",)
        yield Finding(message, signatures.key.span, notes)


@RULES.document("MA011", "signature-of-other-digest", Severity.ERROR)
def signature_of_other_digest(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find a signature of another digest than that of the document (§09-2). The finding points at its digest."""
    digest = subject.model.integrity("digest")
    for signature in _signatures(subject.model) if digest is not None else ():
        entry = signature.entry("payload-digest")
        if entry is not None and digest is not None and text_of(entry) != digest.text:
            message = "`payload-digest` is not the digest of the document: the signature is of something else"
            yield Finding(message, entry.value.span, annotations=(Annotation(digest.span, "the digest"),))


@RULES.document("MA012", "wrong-rekor-entry", Severity.ERROR)
def wrong_rekor_entry(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find a signature of Sigstore without its place in the transparency log, or one of another signer with it
    (§09-2). The finding points at the signer, or at what should not be there."""
    names = ("rekor-log-id", "rekor-log-index")
    for signature in _signatures(subject.model):
        signer = signature.entry("signer")
        text = text_of(signer) or ""
        for name in names if signer is not None else ():
            entry = signature.entry(name)
            if text.startswith(SIGSTORE) and entry is None and signer is not None:
                yield Finding(f"a signature of Sigstore needs `{name}`", signer.value.span)
            elif text.startswith(DID_WEB) and entry is not None:
                yield Finding(f"`{name}` is of Sigstore alone, and the signer is `{shown(text)}`", entry.key.span)


@RULES.document("MA013", "integrity-mismatch", Severity.WARNING, strict=Severity.ERROR)
def integrity_mismatch(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find a digest that is not that of the document (§08-4). The finding points at the digest. It is an error where
    the document is verified, with keys or a trust policy."""
    model = subject.model
    stored, algorithm = model.integrity("digest"), model.integrity("algorithm")
    if stored is None or algorithm is None or not stored.text.startswith(f"{algorithm.text}:"):
        return
    sidecar = sidecar_of(subject) if model.is_package else None
    if model.is_package and sidecar is None:
        return  # reported as such
    wanted = computed(model, canonical(sidecar) if sidecar is not None else None)
    if wanted is not None and wanted != stored.text:
        why = "prosa fmt --rehash writes the digest of the text as it is" if not model.signatures else ""
        notes = (f"it is {wanted}", why or "the signatures are of the digest that is written")
        yield Finding("the digest does not match the document: one of them was changed", stored.span, notes)


@RULES.document("MA014", "digest-of-other-algorithm", Severity.ERROR)
def digest_of_other_algorithm(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find a digest whose prefix is not the algorithm beside it (§08-2). The finding points at the digest."""
    stored, algorithm = subject.model.integrity("digest"), subject.model.integrity("algorithm")
    if stored is not None and algorithm is not None and not stored.text.startswith(f"{algorithm.text}:"):
        message = f"the digest does not begin with `{algorithm.text}:`, as the algorithm says"
        yield Finding(message, stored.span, annotations=(Annotation(algorithm.span, "the algorithm"),))


@RULES.document("MA015", "signature-not-verified", Severity.INFO)
def signature_not_verified(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find a signature (§09). The finding points at the signer: nothing is known of it without a key."""
    for signature in subject.model.signatures:
        message = f"the signature of `{shown(signature.signer)}` is not verified: no key was given"
        yield Finding(message, signature.span, ("`prosa check --keys FILE` verifies it with keys in a file",))


def _signatures(model: MdaModel) -> Iterator[Mapping]:
    """Yield the signatures as they are written, well-formed or not."""
    node = model.front.fields.get("signatures") if model.front.fields is not None else None
    yield from (item for item in node.items if isinstance(item, Mapping)) if isinstance(node, Sequence) else ()


# What is compiled from MDA (§06): the folder of an output, and the second file of an MCP server.


@RULES.document("MA040", "output-name-unlike-folder", Severity.ERROR)
def output_name_unlike_folder(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find a compiled SKILL.md or MCP-SERVER.md whose folder has another name (§06-2.1). The finding points at the
    name."""
    name = subject.model.text("name")
    if name is None or subject.path is None or not _is_packed(subject.model):
        return
    path = subject.files.real(subject.path) if subject.files else subject.path
    if path.parent.name and path.parent.name != name:
        message = f"the name is `{name}`, but the folder is `{shown(path.parent.name)}`"
        yield Finding(message, subject.model.span("name"), ("give both the same name",))


def _is_packed(model: MdaModel) -> bool:
    return model.is_package or model.target.title.endswith("SKILL.md")


@RULES.document("MA041", "bad-mcp-sidecar", Severity.ERROR)
def bad_mcp_sidecar(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find an MCP-SERVER.md without its `mcp-server.json`, or with one that does not fit it (§06-2.2). The finding
    points at the name."""
    model = subject.model
    if not model.is_package or subject.files is None or subject.path is None:
        return
    span, data = model.span("name"), sidecar_of(subject)
    if data is None:
        message = f"there is no `{SIDECAR}` beside it that holds a JSON object"
        yield Finding(message, span, ("it says how the server is started",))
        return
    for message in sidecar_faults(data, model.text("name")):
        yield Finding(f"`{SIDECAR}`: {message}", span)


def sidecar_of(subject: Subject[MdaModel]) -> dict[str, Value] | None:
    """Return the data of the sidecar; None where there is none."""
    if subject.files is None or subject.path is None:
        return None
    try:
        source = subject.files.read(subject.path.parent / SIDECAR)
    except FileProblem:
        return None
    return read_sidecar(source.text)

"""The fields of MDA 1.0 as tables (§02, §03, §08, §09, §10), by the file that they stand in: the source, or one of the
compiled outputs, which have the fields of MDA below `metadata.mda` alone.

A text is a text here: `license: 1.0` is a number, and no licence. The dates and the version are quoted, so that no
reader of YAML takes them for something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Map
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.dialects.fields import Field, Form
from prosa.dialects.magi.fields import read_date
from prosa.dialects.skill_md.model import MAX_COMPATIBILITY, MAX_DESCRIPTION, at_most
from prosa.regex import regex

TargetName: TypeAlias = Literal["SKILL.md", "AGENTS.md", "CLAUDE.md", "MCP-SERVER.md"]

_NAME = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_NAME = 64

_NUMBER = r"(?:0|[1-9][0-9]*)"
_PRE = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
VERSION = regex(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PRE}(?:\.{_PRE})*))?")
"""A version of SemVer 2.0.0 without build metadata."""

MAX_VERSION = 256

_DATE = regex(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)")
_DOC_ID = regex(r"[a-zA-Z0-9_-]{8,}")
_BASE64 = regex(r"[A-Za-z0-9+/]+={0,2}")
_SIGNER = regex(r"(?:sigstore-oidc|did-web):.+")
_PAYLOAD_TYPE = regex(r"application/vnd\.[a-z0-9][a-z0-9.-]*\+json")

HEX_DIGITS: Map[str, int] = {"sha256": 64, "sha384": 96, "sha512": 128}
"""The algorithms of digests, and the length of each."""

_DIGEST = regex(r"(sha256|sha384|sha512):([0-9a-f]+)")

SIGNATURE_ALGORITHMS = ("ed25519", "ecdsa-p256", "rsa-pss-sha256")
DEFAULT_PAYLOAD = "application/vnd.mda.integrity+json"
SIGSTORE, DID_WEB = "sigstore-oidc:", "did-web:"


def is_identifier(text: str) -> bool:
    """Return whether a text is a kebab-case identifier (§0.4)."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def _form(pattern: re.Pattern[str], complaint: str) -> Form:
    """Return the form of a text that a pattern has to fit."""
    return lambda text: None if pattern.fullmatch(text) else complaint


def name_form(text: str) -> str | None:
    """Return the complaint about a name."""
    good = is_identifier(text)
    return (
        None if good else f"must be at most {MAX_NAME} lower-case letters and digits with single hyphens between them"
    )


def digest_form(text: str) -> str | None:
    """Return the complaint about a digest."""
    match = _DIGEST.fullmatch(text)
    if match is None:
        return "must be `sha256:`, `sha384:` or `sha512:` and lower-case hexadecimal digits"
    wanted, actual = HEX_DIGITS[match[1]], len(match[2])
    return None if actual == wanted else f"has {actual} hexadecimal digits; {match[1]} has {wanted}"


def version_form(text: str) -> str | None:
    """Return the complaint about a version."""
    if "+" in text:
        return "must not have build metadata, which begins with `+`"
    return None if _is_version(text) else "must be a version of SemVer such as `1.2.0` or `1.2.0-rc.1`"


def range_form(text: str) -> str | None:
    """Return the complaint about a range of versions (§03-3.2)."""
    good = _is_version(text.removeprefix("^"))
    return None if good else "must be one version (`1.2.0`) or a caret range (`^1.2.0`); there are no other ranges"


def _is_version(text: str) -> bool:
    return len(text) <= MAX_VERSION and VERSION.fullmatch(text) is not None


def _date_form(text: str) -> str | None:
    good = _DATE.fullmatch(text) is not None and read_date(text.upper()) is not None
    return None if good else "must be a date with time and zone such as `2026-01-15T09:00:00Z`"


def _short(limit: int) -> Form:
    """Return a form that refuses an empty text, and one of more than ``limit`` characters."""
    long = at_most(limit)
    return lambda text: long(text) if text else "is empty"


def _filled(text: str) -> str | None:
    return None if text else "is empty"


def _natural(text: str) -> str | None:
    return "must not be negative" if text.startswith("-") and text != "-0" else None


def _unit_interval(text: str) -> str | None:
    return None if 0.0 <= float(text) <= 1.0 else "must be a number from 0 to 1"


_signer_form = _form(_SIGNER, "must be `sigstore-oidc:` or `did-web:` and an identity")
_payload_form = _form(_PAYLOAD_TYPE, "must be `application/vnd.VENDOR.TYPE+json`, without any other suffix")
_base64_form = _form(_BASE64, "must be Base64")
_doc_id_form = _form(_DOC_ID, "must be at least 8 letters, digits, `_` and `-`; a UUID is recommended")

REL_TYPES = ("parent", "child", "related", "cites", "supports", "contradicts", "extends")

RELATIONSHIP: tuple[Field, ...] = (
    Field("rel-type", "text", required=True, choices=REL_TYPES, about=f"one of {', '.join(REL_TYPES)}"),
    Field("doc-id", "text", required=True, form=_filled, about="the `doc-id` of the other document"),
    Field("rel-desc", "text", about="why they belong together"),
    Field("rel-strength", "number", form=_unit_interval, about="a number from 0 to 1"),
    Field("bi-directional", "boolean", about="true where it holds both ways"),
    Field(
        "context",
        "mapping",
        about="what the relationship rests on, with names of your own",
        inner=(
            Field("section", "text", about="the part of the other document that is meant"),
            Field("relevance", "text", about="how much it matters here"),
        ),
    ),
)

DEPENDENCY: tuple[Field, ...] = (
    Field("name", "text", required=True, form=name_form, about="the `name` of the other document"),
    Field("version-range", "text", required=True, form=range_form, about="`1.2.0`, or `^1.2.0`: below the next major"),
    Field("digest", "text", form=digest_form, about="the `integrity.digest` that the other document must have"),
)

NETWORK = ("none", "local", "public")

REQUIRES: tuple[Field, ...] = (
    Field("runtime", "texts", about="runtimes, each with a range or without: `python>=3.11`"),
    Field("tools", "texts", about="names of tools, as agents know them"),
    Field("network", "anything", about="none, local, public, or a list of hosts, `*` for any part"),
    Field("packages", "texts", about="packages of the system or of a language"),
    Field(
        "model",
        "mapping",
        about="what the model has to have",
        inner=(
            Field("min-context", "integer", form=_natural, about="tokens of context"),
            Field("tools-required", "boolean", about="true where it calls tools"),
            Field("vision", "boolean", about="true where it sees pictures"),
        ),
    ),
    Field(
        "cost-hints",
        "mapping",
        about="what one use costs",
        inner=(
            Field("tokens-per-call", "integer", form=_natural, about="tokens"),
            Field("seconds-per-call", "integer", form=_natural, about="seconds"),
            Field("paid-apis", "texts", about="services that cost money"),
        ),
    ),
)
"""Further names are allowed, and their values are whatever their authors agree on."""

EXTENDED: tuple[Field, ...] = (
    Field("doc-id", "text", form=_doc_id_form, about="the id by which relationships point here; a UUID is recommended"),
    Field("title", "text", about="the title for people"),
    Field("version", "text", form=version_form, about="the version, quoted, for `depends-on` of others"),
    Field("requires", "mapping", about="what a host has to have", inner=REQUIRES),
    Field("depends-on", "mappings", about="other documents that it cannot work without", inner=DEPENDENCY),
    Field("author", "text", about="who wrote it"),
    Field("tags", "texts", about="a list of words to find it by"),
    Field("created-date", "text", form=_date_form, about="when it was written, quoted"),
    Field("updated-date", "text", form=_date_form, about="when it was last changed, quoted"),
    Field("relationships", "mappings", about="the same as the footnotes, for readers of front matter alone"),
)
"""What MDA adds. In compiled outputs these stand below `metadata.mda`."""

INTEGRITY: tuple[Field, ...] = (
    Field("algorithm", "text", required=True, choices=tuple(HEX_DIGITS), about="sha256, sha384, sha512"),
    Field("digest", "text", required=True, form=digest_form, about="the algorithm, a colon and the digest"),
)

SIGNATURE: tuple[Field, ...] = (
    Field("signer", "text", required=True, form=_signer_form, about="`did-web:DOMAIN` or `sigstore-oidc:ISSUER`"),
    Field("key-id", "text", required=True, form=_filled, about="the name of the key among those of the signer"),
    Field("payload-digest", "text", required=True, form=digest_form, about="the same as `integrity.digest`"),
    Field("algorithm", "text", required=True, choices=SIGNATURE_ALGORITHMS, about=", ".join(SIGNATURE_ALGORITHMS)),
    Field("signature", "text", required=True, form=_base64_form, about="the signature in Base64"),
    Field("rekor-log-id", "text", about="the transparency log; required of Sigstore, and of no other signer"),
    Field("rekor-log-index", "integer", form=_natural, about="the entry there; required of Sigstore, and of no other"),
    Field("payload-type", "text", form=_payload_form, about=f"what is signed, without it {DEFAULT_PAYLOAD}"),
)

_SHARED: tuple[Field, ...] = (
    Field(
        "name",
        "text",
        form=name_form,
        about="at most 64 lower-case letters and digits with single hyphens between them, and the name of the folder",
    ),
    Field(
        "description",
        "text",
        form=_short(MAX_DESCRIPTION),
        about="what it does and when to use it, at most 1,024 characters",
    ),
    Field("license", "text", about="an SPDX identifier, or the file with the licence"),
    Field("compatibility", "text", form=at_most(MAX_COMPATIBILITY), about="what it requires, at most 500 characters"),
)
_TOOLS = Field("allowed-tools", "text", about="tools that may be used without asking, separated by spaces")
_SECURITY: tuple[Field, ...] = (
    Field("metadata", "mapping", about="`mda`, and a mapping for each vendor"),
    Field("integrity", "mapping", about="a digest of the document", inner=INTEGRITY),
    Field("signatures", "mappings", about="signatures of that digest", inner=SIGNATURE),
)

SOURCE: tuple[Field, ...] = (*_SHARED, _TOOLS, *_SECURITY, *EXTENDED)
"""The front matter of a `.mda` file."""

ONLY_MAGI = frozenset(
    ("authorid", "image", "imageslist", "publisheddate", "expireddate", "globs", "audience", "purpose", "entities")
) | {"sourceurl"}
"""Fields of MAGI that MDA does not have, as `magi.fields.squashed` gives them."""

MARKS = ("integrity", "signatures", "targets")
"""Fields that only MDA has (X42)."""


class MdaFile(Struct, frozen=True):
    """A compiled output, or the source, by what its front matter may and must hold (§06). ``required`` is true where it
    needs front matter, and its folder has its name."""

    title: str
    fields: tuple[Field, ...]
    required: bool = False


_NAMED = tuple(replace(field, required=field.name in ("name", "description")) for field in _SHARED)

SOURCE_FILE = MdaFile("an MDA document", SOURCE, required=True)
TARGETS: Map[TargetName, MdaFile] = {
    "SKILL.md": MdaFile("a compiled SKILL.md", (*_NAMED, _TOOLS, *_SECURITY), required=True),
    "AGENTS.md": MdaFile("a compiled AGENTS.md", (*_SHARED, *_SECURITY)),
    "CLAUDE.md": MdaFile("a compiled CLAUDE.md", (*_SHARED, _TOOLS, *_SECURITY)),
    "MCP-SERVER.md": MdaFile("a compiled MCP-SERVER.md", (*_NAMED, *_SECURITY), required=True),
}

OPEN = frozenset({"context", "requires", "model", "cost-hints"})
"""Mappings that may hold further names."""

RESERVED = frozenset({"default", "__proto__", "constructor", "prototype"})
"""Names below `metadata` that belong to no vendor (§04-3)."""


def target_of(path: str) -> MdaFile:
    """Return what a file is by its name (§01-2.2)."""
    name = path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
    return next((target for known, target in TARGETS.items() if known == name), SOURCE_FILE)

"""The fields of a YMJ record as tables: header, footer, everything below `ops` (Y7–Y12).

Header fields are strings by their source text (X1, YA7): `version: 1.0` is "1.0". Footer fields are JSON, so a string
is a string and a number a number. Placeholders where a hash belongs are weighed by a rule of their own (YA18), so no
form is asked of hashes here.
"""

from __future__ import annotations

from prosa.dialects.fields import Field
from prosa.dialects.ymj.forms import date_form, language_form, mime_form, not_empty, uri_form

BODY_FORMATS = ("markdown", "csv", "mermaid", "plain", "json", "yaml")
"""Y12."""

HEADER: tuple[Field, ...] = (
    Field("doc_summary", "string", required=True, wanted="one line of at most 120 characters", why="catalogs show it"),
    Field("kind", "string", required=True, why="for example `note`, `spec`, `runbook`, `ticket` or `dataset`"),
    Field("version", "string", required=True, why="the version of this document, for example 1.0.0"),
    Field("subject", "string", required=True, why="the title people know it by"),
    Field("maintained_by", "string", required=True, why="the person or team who owns it"),
    Field("ymj_spec", "string", form=not_empty),
    Field("validation_mode", "string", choices=("strict", "permissive")),
    Field("created", "string", form=date_form),
    Field("updated", "string", form=date_form),
    Field("language", "string", form=language_form),
    Field("classification", "string", choices=("public", "internal", "confidential", "secret")),
    Field("attachments", "mappings"),
    Field("provenance", "mapping"),
    Field("payload_sha256", "string"),
)
"""Y7 and Y8; the first five are required."""

CATALOG_ENTRY: tuple[Field, ...] = (
    Field("uri", "string", required=True, form=not_empty, why="it names what is attached"),
    Field("note", "string"),
    Field("sha256", "string"),
)
"""One of the header's `attachments`."""

PROVENANCE: tuple[Field, ...] = (Field("source", "string"), Field("tool", "string"), Field("run_id", "string"))

FOOTER: tuple[Field, ...] = (
    Field("schema", "text-or-integer", required=True, why='the version of the footer, for example "1"'),
    Field("payload_hash", "text"),
    Field("index", "mapping", required=True, wanted="an object", why="search and filters read it"),
    Field("schema_uri", "text", form=uri_form),
    Field("ai", "mapping"),
    Field("ops", "mapping"),
)
"""Y10 and Y11; an absent `payload_hash` is a rule of its own (YA2)."""

INDEX: tuple[Field, ...] = (
    Field("tags", "texts"),
    Field("title", "text"),
    Field("summary", "text"),
    Field("owner", "text"),
    Field("embedding", "numbers"),
    Field("model", "text"),
)
"""Y10: the author may add keys of any kind."""

AI: tuple[Field, ...] = (Field("vector_ref", "text"), Field("embedding_id", "text"), Field("embedding_model", "text"))

OPS: tuple[Field, ...] = (
    Field("body_format", "text", choices=BODY_FORMATS),
    Field("payload_mime", "text", form=mime_form),
    Field("body_selector", "text", form=not_empty),
    Field("attachments", "mappings"),
    Field("handlers", "mappings"),
    Field("routes", "mapping"),
    Field("page", "mapping"),
    Field("visibility", "anything"),
    Field("retention", "mapping"),
    Field("priority", "text", choices=("low", "normal", "high")),
    Field("cache", "mapping"),
    Field("localization", "mapping"),
    Field("chunking", "mapping"),
    Field("ticket", "mapping"),
    Field("trace", "mapping"),
    Field("graph", "mapping"),
    Field("body_encoding", "text", choices=("base64", "gzip")),
    Field("data_signature", "mapping"),
    Field("prompt_role", "text", choices=("system", "user", "assistant", "tool")),
    Field("auto_summary", "boolean"),
    Field("encryption", "anything"),
    Field("signature", "anything"),
)
"""Y12, and the two names that Y20 keeps for later."""

_PAGE: tuple[Field, ...] = (Field("route", "text"), Field("layout", "text"), Field("seo", "anything"))

OPS_MAPS: dict[str, tuple[Field, ...]] = {
    "page": _PAGE,
    "routes": _PAGE,
    "retention": (Field("days", "integer"), Field("expiry", "text", form=date_form)),
    "cache": (Field("key", "text"), Field("etag", "text")),
    "localization": (Field("locales", "texts", form=language_form),),
    "chunking": (
        Field("chunk_id", "integer", required=True),
        Field("total", "integer", required=True),
        Field("prev_sha256", "text"),
    ),
    "ticket": (Field("severity", "integer", required=True), Field("code", "text"), Field("related_ids", "texts")),
    "trace": (Field("parent_id", "text"), Field("lineage_id", "text"), Field("revision", "text-or-integer")),
    "graph": (Field("edges", "mappings", required=True),),
    "data_signature": (
        Field("alg", "text", required=True),
        Field("signature", "text", required=True),
        Field("key_id", "text"),
    ),
}
"""The objects below `ops`."""

OPS_LISTS: dict[str, tuple[Field, ...]] = {
    "attachments": (
        Field("uri", "text"),
        Field("select", "anything"),
        Field("transform", "anything"),
        Field("cache", "anything"),
        Field("auth_ref", "text"),
        Field("sha256", "text"),
    ),
    "handlers": (Field("name", "text", required=True), Field("args", "mapping")),
}
"""The items of the lists below `ops`. `sha256` of an attachment is not one of its fields and is read all the same:
a rule says where it belongs (YA18)."""

EDGE: tuple[Field, ...] = (
    Field("type", "text", required=True, form=not_empty),
    Field("to", "text", required=True, form=not_empty),
)
"""One of `ops.graph.edges`."""

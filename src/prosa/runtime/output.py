"""The contract of an answer, by the form of a program's output (M34): JSON with a schema, plain text, an image's URL
(L12, L14, LA4–LA6).

In: a program and the text of a reply. Out: the format to send, the instruction for the model, and the accepted value or
the reasons for refusing it. The schema as the author wrote it decides; the lowered copy only helps the model. A URL is
checked but never fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from prosa.data import JsonError, Value, parse_json
from prosa.regex import regex
from prosa.runtime.messages import Finish, ModelReply, OutputFormat
from prosa.runtime.program import Program
from prosa.schema import Lowered, Schema, lower, unwrap
from prosa.source.remembered import remembered

MAX_PROBLEMS = 20
"""Maximum number of reasons sent to the model at once; more would hide the first ones."""

MAX_REASON = 500
"""Characters of one reason: the names in its pointer are the model's own."""

OUTPUT_NAME = "output"

ANSWER_RULE = (
    "Answer with one JSON value that satisfies the JSON Schema below, and with nothing else: no prose, no fence."
)
WRAP_RULE = 'Put the value into an object under the single key "value": {"value": …}.'
EMPTY_RULE = "If there is nothing to return, answer {}."


CUT = "the answer was cut off at the length limit before the JSON ended; answer more briefly"


class Accepted(Struct, frozen=True):
    """An answer that satisfies the contract; ``cut`` is true if it ends at the model's length limit."""

    value: Value
    cut: bool = False


class Rejected(Struct, frozen=True):
    """An invalid answer. ``content`` is the part kept in the transcript."""

    problems: tuple[str, ...]
    content: str


Verdict: TypeAlias = Accepted | Rejected


class OutputContract(Struct, frozen=True):
    """A compiled output schema. ``raw`` is the schema as written, ``wire`` as sent; ``rule`` is the instruction for the
    model about its answer (L11)."""

    raw: Mapping[str, Value] | bool
    schema: Schema
    wire: Lowered
    rule: str

    @classmethod
    def of(cls, raw: Mapping[str, Value] | bool) -> OutputContract:
        """Compile a schema. Raises `prosa.schema.SchemaError`."""
        schema, wire = Schema(raw), lower(raw)
        return cls(raw, schema, wire, _rule(raw, schema, wire))

    @property
    def format(self) -> OutputFormat:
        """The format of `ModelRequest`."""
        return OutputFormat(OUTPUT_NAME, self.wire.schema, self.wire.strict)

    @property
    def wanted(self) -> str:
        """The answer in words."""
        return "the JSON value"

    def judge(self, reply: ModelReply) -> Verdict:
        """Accept or reject a reply without tool calls. Empty content counts as ``{}`` (LA6)."""
        content = reply.content.strip() or "{}"
        try:
            value = _read(content)
        except JsonError as error:
            return Rejected((_not_json(error, reply.finish),), content)
        if reply.finish == "length" and not _has_an_end(value):
            return Rejected((CUT,), content)
        if self.schema.valid(inner := unwrap(self.wire, value)):
            return Accepted(inner)
        if self.wire.wrapped and self.schema.valid(value):
            return Accepted(value)
        return Rejected(_reasons(self.schema, inner), content)


def _rule(raw: Mapping[str, Value] | bool, schema: Schema, wire: Lowered) -> str:
    rules = [ANSWER_RULE]
    if wire.wrapped:
        rules.append(WRAP_RULE)
    elif schema.valid({}):
        rules.append(EMPTY_RULE)
    return " ".join(rules) + "\n\n" + json.dumps(raw, ensure_ascii=False, indent=2)


def _read(content: str) -> Value:
    try:
        return parse_json(content)
    except JsonError:
        inner = _only_json_fence(content)
        if inner is None:
            raise
        return parse_json(inner)


def _only_json_fence(content: str) -> str | None:
    """Return the text of the one JSON fence, where a model without a response format wrapped its answer in Markdown."""
    if "```" not in content and "~~~" not in content:
        return None
    from prosa.document import fence_texts

    texts = fence_texts(content, languages=("json", ""))
    return texts[0] if len(texts) == 1 else None


def _has_an_end(value: Value) -> bool:
    """Return whether the JSON of a value shows that it is whole: of a number, what was cut off may have been its
    end."""
    return isinstance(value, dict | list | str)


def _not_json(error: JsonError, finish: Finish) -> str:
    if finish == "length":
        return CUT
    return f"the answer is not valid JSON: line {error.line}, column {error.column}: {error.message}"


def _reasons(schema: Schema, value: Value) -> tuple[str, ...]:
    problems = schema.problems(value)
    shown = tuple(_cut(f"{problem.pointer or '(root)'}: {problem.message}") for problem in problems[:MAX_PROBLEMS])
    return shown if len(problems) <= MAX_PROBLEMS else (*shown, f"… and {len(problems) - MAX_PROBLEMS} more")


def _cut(reason: str) -> str:
    return reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 1]}…"


MAX_URL = 8192
"""Maximum length of an address; services return no longer ones."""

MAX_DATA_URL = 10 * 1024 * 1024
"""Characters of an image inside its URL: the size of a document (X9)."""

CUT_OFF = "the answer was cut off at the length limit of the model before the URL ended"
NOT_A_URL = "the answer is not one absolute http, https or data:image URL; answer with the URL and nothing else"

_PLAIN = regex(r"[^\s\x00-\x1f\x7f<>\"`\\]+")
_IMAGE = regex(r"data:image/[A-Za-z0-9.+-]{1,64}(?:;[A-Za-z0-9=.+-]{1,64}){0,4},.+", re.DOTALL)


class Contract(Protocol):
    """What an answer must be."""

    @property
    def format(self) -> OutputFormat | None:
        """The schema of `ModelRequest`, where there is one."""
        ...

    @property
    def rule(self) -> str:
        """The instruction for the model about its answer; may be empty."""
        ...

    @property
    def wanted(self) -> str:
        """The answer in words, as in "answer with …"."""
        ...

    def judge(self, reply: ModelReply) -> Verdict:
        """Accept or reject a reply without tool calls."""
        ...


class TextContract(Struct, frozen=True):
    """Text and Markdown: the reply is the output, as it is. Whether it may be cut off is the user's choice."""

    format: None = None
    rule: str = ""
    wanted: str = "the text"

    def judge(self, reply: ModelReply) -> Verdict:
        """Accept."""
        return Accepted(reply.content, cut=reply.finish == "length")


class ImageUrlContract(Struct, frozen=True):
    """One absolute URL of an image: http, https, or the image itself as `data:image/…` (M34)."""

    format: None = None
    rule: str = "Answer with one absolute URL of an image and with nothing else."
    wanted: str = "the URL"

    def judge(self, reply: ModelReply) -> Verdict:
        """Accept the URL without the space around it."""
        if reply.finish == "length":
            return Rejected((CUT_OFF,), reply.content)
        url = reply.content.strip()
        return Accepted(url) if is_image_url(url) else Rejected((NOT_A_URL,), reply.content)


def contract_of(program: Program) -> Contract:
    """Return the contract of a program. Raises `prosa.schema.SchemaError`."""
    if program.form == "json":
        return _json_contract(program.output_schema)
    return ImageUrlContract() if program.form == "image-url" else TextContract()


_json_contract = remembered(OutputContract.of)


def is_image_url(text: str) -> bool:
    """Return whether a text is one absolute http, https or data:image URL. Nothing is fetched, so its content
    is unknown."""
    if text[:5].lower() == "data:":
        return len(text) <= MAX_DATA_URL and bool(_IMAGE.fullmatch(text) and _PLAIN.fullmatch(text))
    if len(text) > MAX_URL or not _PLAIN.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False

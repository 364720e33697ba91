"""The prompts of a configuration, as programs: texts with variables, in it or in files, and messages.

In: a configuration as plain data, and the variables of its cases. Out: programs, as documents. A prompt that code makes
becomes a program to be written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from prosa.convert.body import chat_body, guarded, spelled
from prosa.convert.front import document
from prosa.convert.guess import taken_by
from prosa.convert.neutral import Said
from prosa.convert.nunjucks import from_nunjucks
from prosa.convert.promptfoo.cases import Draft, shown
from prosa.convert.promptfoo.log import Log, Unreadable, content_of, file_of, is_code, yaml_of
from prosa.data import JsonError, Value, are_mappings, parse_json
from prosa.regex import regex
from prosa.schema import Schema
from prosa.template import Template, TemplateError

MAX_PROMPTS = 50


class Prompt(Struct, frozen=True):
    """A prompt as a template in Go's language, and what it is called."""

    pointer: str
    label: str
    template: str


def prompts_of(config: Mapping[str, Value], log: Log) -> list[Prompt]:
    """Return the prompts of a configuration; where it has none, the one of promptfoo: `{{prompt}}`."""
    prompts = config.get("prompts")
    if prompts is None:
        return [Prompt("", "", "{{ .prompt }}\n")]
    listed = prompts if isinstance(prompts, list) else [prompts]
    read = [
        prompt
        for at, one in enumerate(listed)
        for prompt in _prompts(one, f"/prompts/{at}" if isinstance(prompts, list) else "/prompts", log)
    ]
    if len(read) > MAX_PROMPTS:
        log.add("lost", "/prompts", f"there are more than {MAX_PROMPTS} prompts; the others are left out")
    return read[:MAX_PROMPTS]


def _prompts(value: Value, pointer: str, log: Log) -> Iterator[Prompt]:
    """Yield the prompts that an entry stands for."""
    label = ""
    if isinstance(value, dict):
        label = str(value.get("label") or "")
        for key in (name for name in value if name not in ("id", "label", "raw", "display")):
            log.add("lost", f"{pointer}/{key}", f"`{key}` of a prompt has no counterpart")
        value = value.get("raw", value.get("id"))
    if not isinstance(value, str):
        log.add("lost", pointer, "this is not a prompt")
        return
    path = file_of(value) or (value if _is_path(value) else None)
    texts = [value]
    if path is not None:
        try:
            texts = _in_file(path, log)
        except Unreadable as problem:
            log.add("lost", pointer, f"the prompt in `{path[:80]}` is left out: {problem}")
            return
    elif regex(r"(?:exec:|[a-z]+://)").match(value):
        log.add("lost", pointer, f"the prompt `{value[:80]}` is made elsewhere: nothing is run or fetched")
        return
    for text in texts:
        yield _prompt(text, label, pointer, log)


def _is_path(text: str) -> bool:
    if "\n" in text or "{{" in text or len(text) > 200:
        return False
    return is_code(text) or bool(regex(r"\S+\.(?:txt|md|json|ya?ml|j2|csv)").fullmatch(text))


def _in_file(path: str, log: Log) -> list[str]:
    """Return the prompts of a file; several in a text stand between lines `---`. Raises `Unreadable`."""
    if path.endswith((".csv", ".tsv")):
        raise Unreadable("a table of prompts; name each in `prompts`")
    if path.endswith((".json", ".yaml", ".yml")):
        return [log.open(path)]  # a template, which need not be JSON before it is filled in
    content = str(content_of(path, log))
    if path.endswith(".md"):
        return [content]
    return [part.strip("\n") for part in regex(r"(?m)^---[ \t]*$").split(content) if part.strip()]


def _prompt(text: str, label: str, pointer: str, log: Log) -> Prompt:
    log.kept += 1
    messages = _messages(text)
    if messages is None:
        return Prompt(pointer, label, _template(text, pointer, log))
    if len(messages) > 1:
        log.add("guessed", pointer, "the messages are the text of one prompt", "the body")
    if len(messages) == 1:
        return Prompt(pointer, label, _template(messages[0].text, pointer, log))
    turns = tuple(Said(_template(message.text, pointer, log), message.role) for message in messages)
    return Prompt(pointer, label, guarded(chat_body(turns)))


def _template(text: str, pointer: str, log: Log) -> str:
    made = from_nunjucks(text)
    for tag in made.unknown[:20]:
        log.add("manual", pointer, f"`{shown(tag)}` is text: it has no counterpart", "the body")
    try:
        Template(made.template)
    except TemplateError as error:
        log.add("manual", pointer, f"the prompt is text: as a template it cannot be read: {error}", "the body")
        return spelled(text)
    return made.template


def _messages(value: Value) -> list[Said] | None:
    """Return the messages that a prompt is, as JSON or YAML; None for a text."""
    if isinstance(value, str):
        start = value.lstrip()[:1]
        try:
            value = (
                parse_json(value) if start == "[" else yaml_of(value) if value.lstrip().startswith("- role:") else ""
            )
        except (JsonError, Unreadable):
            return None
    if not are_mappings(value) or not value or not all("role" in message for message in value):
        return None
    return [Said(_text_of(message.get("content")), _ROLES.get(str(message["role"]), "user")) for message in value]


_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "model": "assistant"}


def _text_of(content: Value) -> str:
    """Return the text of a message, of parts those that are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else json.dumps(content, ensure_ascii=False)


# ---- programs ----


def program_of(prompt: Prompt, name: str, about: str, cases: Sequence[Draft], output: Value) -> str:
    """Return a prompt as a program that takes the variables of the cases."""
    fields: dict[str, Value] = {
        "name": name,
        "description": about,
        "input": _input(prompt, cases),
        "output": {"type": "string"} if output is None else output,
    }
    return document(fields, prompt.template.rstrip("\n") + "\n", bare=False)


def unwritten(cases: Sequence[Draft]) -> Prompt:
    """Return a prompt for a person to write, which shows all variables."""
    names = dict.fromkeys(name for case in cases for name in case.variables)
    shown_names = [name for name in names if regex(r"[A-Za-z_]\w*").fullmatch(name) and name.isascii()]
    lines = "\n".join(f"{name}: {{{{ .{name} }}}}" for name in shown_names)
    return Prompt("/prompts", "", f"Write the prompt here.\n\n{lines}\n")


def _input(prompt: Prompt, cases: Sequence[Draft]) -> Value:
    """Return the schema of the variables that a prompt takes. Its types are those of its template as far as the cases
    have such values; what a case leaves out is empty, as in promptfoo."""
    properties: dict[str, Value] = {}
    required: list[Value] = []
    for name, schema in taken_by(Template(prompt.template)).items():
        values = [case.variables[name] for case in cases if name in case.variables]
        accepts = Schema(schema)
        if not schema or any(next(iter(accepts.problems(value)), None) is not None for value in values):
            kinds: list[Value] = list(dict.fromkeys(_kind(value) for value in values)) or ["string"]
            schema = {"type": kinds if len(kinds) > 1 else kinds[0]}
        if len(values) == len(cases):
            required.append(name)
        else:
            schema = {**schema, "default": _EMPTY.get(str(schema.get("type")), "")}
        properties[name] = schema
    whole: dict[str, Value] = {"type": "object", "properties": properties}
    return whole | ({"required": required} if required else {})


def _kind(value: Value) -> str:
    """Return the type of a value, in the words of JSON Schema."""
    kinds = {type(None): "null", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
    return kinds.get(type(value), "string")


_EMPTY: Mapping[str, Value] = {"array": [], "object": {}}

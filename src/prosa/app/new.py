"""First documents (`prosa new`): a program, a chat, a MAGI document and an MDH node that are complete and usable. In:
a name, and a subject. Out: text that `prosa check --strict` accepts. It reads and writes nothing.

Skills, tests and records have makers of their own: `app/evals/first_eval.py`, `app/evals/sketch.py` and the YMJ
writer.
"""

from __future__ import annotations

import unicodedata

from prosa.data import Value
from prosa.data.yaml_write import write_yaml
from prosa.document.anchors import slug
from prosa.regex import regex

_PART = regex(r"[-_.\s]+")


def first_program(name: str, *, about: str | None) -> str:
    """Return a program that answers a question; its name is that of its file as a tool may be called."""
    described = about or "Answers a question in one sentence"
    return _document({"name": _identifier(name), "description": described}, _PROGRAM)


def first_chat(*, about: str | None) -> str:
    """Return a chat with the first message of a person."""
    return _CHAT.format(question=about or "Which three questions should I ask before I write a program?")


def first_magi(name: str, *, doc_id: str, about: str | None, owner: str | None) -> str:
    """Return a MAGI document with one instruction that asks for a summary."""
    title = about or _title(name)
    fields: dict[str, Value] = {"doc-id": doc_id, "title": title}
    if owner:
        fields["author"] = owner
    return _document(fields, _MAGI.format(title=title))


def first_node(name: str, *, about: str | None, summary: str | None) -> str:
    """Return an MDH node with the form of an action in a comment: an action that no API answers would be a lie."""
    title = about or _title(name)
    fields: dict[str, Value] = {"id": _identifier(name), "type": "page", "title": title}
    if summary:
        fields["summary"] = summary
    return _document(fields, _NODE.format(title=title, id=_identifier(name)))


def _document(fields: dict[str, Value], rest: str) -> str:
    return f"---\n{write_yaml(fields)}{rest}"


def _identifier(name: str) -> str:
    """Return the name in ASCII letters, digits, `-` and `_`, which every service takes for the name of a tool."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return slug(_PART.sub("-", plain)).strip("-") or "first"


def _title(name: str) -> str:
    words = _PART.sub(" ", name).strip()
    return f"{words[:1].upper()}{words[1:]}" or "First"


_PROGRAM = """\
input:
  type: object
  properties:
    question: { type: string, description: what to answer }
  required: [question]
output:
  type: object
  properties:
    answer: { type: string }
    sure: { type: boolean, description: false when the answer is a guess }
  required: [answer, sure]
---
Answer this question in one sentence.

{{ .question }}
"""

_CHAT = """\
% temperature = 0.2

### @system:

Answer in plain words, in at most five sentences.

### @user:

{question}
"""

_MAGI = """\
---

# {title}

Write here what people should read. The block below is for a model: it is sent this document, and what it answers is
written below the block.

```ai-script
{{
  "script-id": "summary",
  "prompt": "Summarise this document in one sentence.",
  "output-format": "text"
}}
```
"""

_NODE = """\
# What an agent may do here goes into `actions`; a path leads to your own API.
# actions:
#   - id: {id}.search
#     title: Search for a word
#     method: GET
#     url: /api/search
#     auth: {{ type: none }}
#     query:
#       required: [q]
---

# {title}

Write here what people and agents should read. Links to other pages are ordinary Markdown links.
"""

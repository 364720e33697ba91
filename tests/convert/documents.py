"""Documents of every form, made of what is hard to convert."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from prosa.data.yaml_write import write_yaml

LINES = (
    "",
    "Fetches a URL and returns the status and content.",
    "# A heading",
    "### @system:",
    "### //@user:",
    "### \\@user:",
    '### {{ "" }}@user:',
    "% model = 1",
    "---",
    "{{ .secret }}",
    "{{{{{ .x }} }}}",
    "{{",
    "}} {{/* c */}} {{- 1 -}}",
    "\\{{name}} \\\\{{#if x}} {{/if}}",
    "## Request",
    "{{ .request }}",
    "## Parameters",
    "Parameters:",
    "- url (required): The URL to fetch",
    "- `format` (optional, string): How (json, xml)",
    "Uses the fetch tool. Call /other.",
    "Do it with $ARGUMENTS and $1.",
    "!`rm -rf /`",
    "```json",
    '{"a": 1}',
    "```ai-script",
    "<!-- a comment -->",
    '[^1]: {"rel-type": 1}',
    "</div> <script>",
    "prosa */ é 😀 \u2028 x",
    "  indented\ttabs  ",
)
BODIES = st.lists(st.sampled_from(LINES) | st.text(alphabet='a{}#@%-\\$`"*/: .', max_size=12), max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n", "\n", "\r\n"]).map(lambda end: end.join(lines) + (end if lines else ""))
)
WORDS = st.sampled_from(
    ["fetch", "A name, with: signs", "1.10", "true", "é*/", "{{ .x }}", "-", "two\nlines", "x" * 1100]
)
LEAVES = WORDS | st.none() | st.booleans() | st.integers(-3, 10**18) | st.floats(allow_nan=False)
DATA = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=5
)
SCHEMAS = st.sampled_from(
    [
        {"type": "object"},
        {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
        {"type": "object", "properties": {"arguments": {"type": "string"}}, "required": ["arguments"]},
        {"type": "object", "properties": {"n": {"type": "integer", "default": 3}, "b c": {"enum": [1, "x"]}}},
        True,
    ]
)
SERVERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["fetch", "git"]), "command": st.just("uvx")},
        optional={
            "tools": st.sampled_from(
                [
                    [],
                    [{"name": "a"}, {"name": "b", "description": "B", "parameters": {"type": "object"}}],
                    [{"name": "a"}, {"name": "a"}],
                    [{"name": "a", "parameters": {"type": "array"}}],
                    [{"name": "a", "parameters": {"properties": 3}}],
                    [{"description": "without a name"}],
                    "a",
                ]
            )
        },
    ),
    max_size=1,
)


def front(known: dict[str, st.SearchStrategy], body: st.SearchStrategy[str] = BODIES) -> st.SearchStrategy[str]:
    """Documents with some of these fields and with others."""
    fields = st.fixed_dictionaries({}, optional=known)
    others = st.dictionaries(st.sampled_from(["extra", "x-y", "a/b", "note", "prosa"]), DATA, max_size=2)
    whole = st.tuples(fields, others).map(lambda both: {**both[1], **both[0]})
    notes = st.sampled_from(["", "", "# a comment\n", "n: 1.10 # a number\n"])
    return st.tuples(whole, notes, body).map(
        lambda each: f"---\n{each[1]}{write_yaml(each[0])}---\n{each[2]}" if each[0] or each[1] else each[2]
    )


HEADINGS = st.sampled_from(
    ["### @user:", "### @user/Ada:", "### @assistant:", "### @system:", "### @_notes:", "### //@user:", "### @prompt:"]
)
MESSAGES = st.lists(st.tuples(HEADINGS, BODIES), max_size=4).map(
    lambda messages: "".join(f"{heading}\n\n{body}\n\n" for heading, body in messages)
)
SAID = st.sampled_from(["", "Hello.", " two\n\nlines \n", "% x = 1\n### @user:\n", "```\nopen", "{{ .x }}"]) | BODIES
REQUESTS = st.fixed_dictionaries(
    {
        "messages": st.lists(
            st.one_of(
                st.fixed_dictionaries(
                    {"role": st.sampled_from(["user", "assistant", "system", "developer"]), "content": SAID},
                    optional={"name": st.sampled_from(["Ada", "a b"]), "refusal": st.none()},
                ),
                st.just({"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function"}]}),
                st.just({"role": "tool", "tool_call_id": "1", "content": "42"}),
                st.just({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_audio"}]}),
            ),
            max_size=4,
        )
    },
    optional={
        "model": WORDS,
        "temperature": st.sampled_from([0, 0.5, "hot"]),
        "tools": DATA,
        "response_format": st.sampled_from(
            [
                {"type": "json_object"},
                {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
            ]
        ),
    },
)

PROMPTS = st.lists(
    st.sampled_from(
        [
            '{{role "system"}}',
            '{{role "user"}}',
            '{{role "model"}}',
            "{{name}}",
            "{{{name}}}",
            "{{ x.y-z }}",
            "{{#if a}}",
            "{{else}}",
            "{{else if b}}",
            "{{/if}}",
            "{{#each tags}}",
            "{{this}}{{@index}}{{../name}}{{@root.n}}",
            "{{/each}}",
            "{{#unless a}}no{{/unless}}",
            '{{#ifEquals a "b"}}',
            "{{/ifEquals}}",
            "{{! note }}",
            "{{~name~}}",
            "{{> part x=1}}",
            "{{history}}",
            "{{media url=u}}",
            "\\{{not}} \\\\{{name}}",
            "\n",
            "  text\n",
            " \n\n",
        ]
    )
    | st.sampled_from(LINES),
    max_size=9,
).map("".join)

DOCUMENTS: dict[str, st.SearchStrategy[str]] = {
    "skill": front(
        {
            "name": WORDS,
            "description": WORDS,
            "license": WORDS,
            "compatibility": WORDS,
            "metadata": st.dictionaries(WORDS, WORDS, max_size=2),
            "allowed-tools": st.sampled_from(["Read Bash(git:*)", "Read, Write", ["WebFetch"], ["a", "b c"]]) | DATA,
            "argument-hint": WORDS,
            "model": WORDS,
        }
    ),
    "program": front(
        {
            "name": WORDS,
            "description": WORDS,
            "input": SCHEMAS,
            "output": SCHEMAS,
            "model": WORDS,
            "mcp_servers": SERVERS,
            "limits": DATA,
        }
    ),
    "command": front(
        {
            "description": WORDS,
            "argument-hint": WORDS,
            "allowed-tools": st.sampled_from(["Read, Bash(git add:*)", "Read", ["Read", "Edit"]]) | DATA,
            "model": WORDS,
        }
    ),
    "agent": front(
        {
            "name": WORDS,
            "description": WORDS,
            "tools": st.sampled_from(["Read, Write", ["edit/files", "search"], []]) | DATA,
            "model": WORDS,
            "mcp-servers": st.dictionaries(WORDS, DATA, max_size=2),
        }
    ),
    "instructions": front(
        {"description": WORDS, "applyTo": st.sampled_from(["**", "**/*.py, a/**", ["a", "b"]]) | DATA}
    ),
    "markdown": front(
        {
            "title": WORDS,
            "description": WORDS,
            "tags": st.lists(WORDS, max_size=2) | WORDS,
            "author": DATA,
            "lang": WORDS,
        }
    ),
    "magi": front(
        {
            "doc-id": WORDS,
            "title": WORDS,
            "tags": st.lists(WORDS, max_size=2),
            "created-date": WORDS | DATA,
            "globs": DATA,
        }
    ),
    "mdh": front(
        {
            "id": WORDS,
            "type": WORDS,
            "title": WORDS,
            "summary": WORDS,
            "tags": st.lists(WORDS, max_size=2),
            "updated": st.just("2026-04-30") | DATA,
            "links": st.just([{"rel": "related_to", "target": "b"}]) | DATA,
        }
    ),
    "ymj": st.tuples(
        front(
            {
                "doc_summary": st.just("A line"),
                "kind": st.sampled_from(["note", "trace"]),
                "version": WORDS,
                "subject": WORDS,
                "maintained_by": WORDS,
                "created": st.just("2026-03-31") | WORDS,
                "attachments": DATA,
            }
        ),
        st.sampled_from(
            [
                "",
                '\n```json\n{"schema": "1", "index": {"tags": ["trace", "chat"], "title": "x"}}\n```\n',
                '\n```json\n{"schema": 1, "payload_hash": "0", "ops": {"x": [1.0, null]}}\n```\n',
                '\n~~~json\n{"index": {"tags": "a"}}\n~~~\nbehind\n',
            ]
        ),
    ).map("".join),
    "chat": st.tuples(
        st.sampled_from(["", '% model = "gpt-4o"\n% temperature = 0.5\n\n', "% x = 1\n", "Before.\n\n"]), MESSAGES
    ).map("".join)
    | front({}, MESSAGES),
    "openai": st.one_of(REQUESTS, REQUESTS.map(lambda data: data["messages"])).map(json.dumps),
    "llm": st.lists(
        st.fixed_dictionaries(
            {"prompt": SAID, "response": SAID},
            optional={"system": SAID, "model": WORDS, "id": WORDS, "attachments": st.just([1]), "prosa": DATA},
        ),
        max_size=3,
    ).map(json.dumps),
    "dotprompt": front(
        {
            "name": WORDS,
            "model": WORDS,
            "config": st.just({"temperature": 0.5, "topK": 3, "maxOutputTokens": 10}) | DATA,
            "input": st.sampled_from(
                [
                    {"schema": {"name": "string, who it is", "n?": "integer", "tags(array)": "string"}},
                    {"schema": {"type": "object", "properties": {"x": {"type": "string"}}}, "default": {"x": "y"}},
                    {"schema": "Elsewhere"},
                ]
            )
            | DATA,
            "output": st.just({"format": "json", "schema": {"ok": "boolean"}}) | DATA,
        },
        PROMPTS,
    ),
}
"""Documents by form."""

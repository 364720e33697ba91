"""The examples that end the help of each command. In: the name of a command. Out: the lines of its section.

Loaded for `--help` alone. Every command has examples, and every one of their lines is parsed by the command itself in
the tests.
"""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A command line, and its purpose."""

    purpose: str
    line: str


def section(command: str) -> str:
    """Return the section of a command, empty when it has no example."""
    shown = "\n\n".join(f"  # {example.purpose}\n  {example.line}" for example in EXAMPLES.get(command, ()))
    return f"Examples:\n{shown}" if shown else ""


EXAMPLES: dict[str, tuple[Example, ...]] = {
    "run": (
        Example("run a program with one input", "prosa run triage.md request='Where is my invoice?'"),
        Example("list the inputs that a program takes", "prosa run triage.md --help"),
        Example("use the model server on this machine", "prosa run triage.md request=hello --model local"),
        Example("play a fixed reply: no model, no key", "prosa run triage.md request=hello -m scripted:replies.jsonl"),
        Example("run a skill", "prosa run skills/refunds 'I want my 12 euros back.'"),
        Example("run one ai-script and write its result down", "prosa run report.mda --script open --write"),
    ),
    "plan": (
        Example("prompt, tools, limits and cost of a run", "prosa plan triage.md request='Where is my invoice?'"),
        Example("the same for another program to read", "prosa plan triage.md request=hello --format json"),
    ),
    "render": (
        Example("the prompt, with the input in its place", "prosa render triage.md request='Where is my invoice?'"),
        Example("the input from a file, and every message", "prosa render triage.md --input @input.json --messages"),
    ),
    "chat": (
        Example("answer the last message of a chat", "prosa chat ideas.md"),
        Example("add a message of yours and answer it", "prosa chat ideas.md --message 'Name three more.'"),
        Example("answer whenever the editor saves the file", "prosa chat ideas.md --watch --model local"),
        Example("see what would be sent", "prosa chat ideas.md --dry-run"),
    ),
    "test": (
        Example("run every test document and every skill below here", "prosa test"),
        Example(
            "try each case five times on two models", "prosa test triage.test.md --repeat 5 -m gpt-4o -m gpt-4o-mini"
        ),
        Example("record the answers once", "prosa test triage.test.md --record tapes"),
        Example("play them in CI, without a key", "prosa test triage.test.md --replay tapes --format junit"),
        Example("can these cases fail at all?", "prosa test skills/refunds --audit"),
        Example("has the last change made it better?", "prosa test skills/refunds --against HEAD~1"),
    ),
    "improve": (
        Example("what it would take, asking nothing", "prosa improve skills/refunds --plan"),
        Example("search, for at most 2 dollars", "prosa improve skills/refunds --max-cost 2 --diff"),
        Example("write what is accepted", "prosa improve skills/refunds --part description --max-cost 2 --write"),
    ),
    "batch": (
        Example("what it would do and cost", "prosa batch triage.md --rows letters.csv --map request=text --plan"),
        Example(
            "run it, for at most 2 dollars", "prosa batch triage.md --rows letters.jsonl -o out.jsonl --max-cost 2"
        ),
        Example("the progress of a batch", "prosa batch triage --status"),
    ),
    "mail": (
        Example("the mailboxes, and what waits in them", "prosa mail"),
        Example("send to the mailbox of a program", """prosa mail send triage '{"request": "Rent is due."}'"""),
        Example("what a worker answered", "prosa mail user --from triage --since 1h"),
        Example("try a dead letter again", "prosa mail --retry 4f1c"),
    ),
    "worker": (
        Example(
            "rows of the batches of a store on a server", "prosa worker --store postgresql://prosa@db.example/prosa"
        ),
        Example("rows of one batch, with the programs of a folder", "prosa worker --batch triage --root ."),
        Example("run a program for each message that comes", "prosa worker --mail triage.md --max-cost 5"),
        Example(
            "handle what waits, four at a time, and end", "prosa worker --mail triage.md --concurrency 4 --until-empty"
        ),
    ),
    "agents": (
        Example("the agents that are here, and whether they can be isolated", "prosa agents"),
        Example("does this version still work? free, with a scripted model", "prosa agents codex --probe"),
    ),
    "runs": (
        Example("the runs of the last week that failed", "prosa runs --since 7d --failed"),
        Example("where two runs start to differ", "prosa runs 7k2m 9q4x"),
        Example("delete what is older than a month", "prosa runs --forget 30d"),
    ),
    "report": (
        Example("a page of the last test, to show", "prosa report -o report.html"),
        Example("a batch that was run, with every row", "prosa report nightly -o nightly.html"),
        Example("all of a test, also for other tools for skills", "prosa report 5f1c -o report/"),
    ),
    "check": (
        Example("check every document below here", "prosa check"),
        Example("apply the safe fixes; show them first", "prosa check docs --fix --diff"),
        Example("a report for a code host", "prosa check --format sarif"),
        Example("standard input, as an editor hands it over", "prosa check - --stdin-filename triage.md"),
    ),
    "fmt": (
        Example("format every document below here", "prosa fmt"),
        Example("fail in CI when something is not formatted", "prosa fmt --check --diff"),
    ),
    "show": (
        Example("the typed content of a document", "prosa show triage.md"),
        Example("one line of JSON for each document of a folder", "prosa show docs --format jsonl"),
        Example("the payload of a YMJ record, byte for byte", "prosa show ticket.ymj --payload"),
    ),
    "convert": (
        Example("convert a skill into a program", "prosa convert skills/review --to program -o review.md"),
        Example("convert a dotprompt file into a program", "prosa convert greet.prompt --to program"),
        Example("see what would be written", "prosa convert skills --to program --dry-run"),
    ),
    "explain": (
        Example("the page of a rule", "prosa explain undeclared-name"),
        Example("the page of a dialect", "prosa explain markdownlang"),
        Example("list all rules", "prosa explain"),
    ),
    "lsp": (
        Example("what an editor starts", "prosa lsp"),
        Example("keep a log of the protocol, for debugging", "prosa lsp --log lsp.log"),
    ),
    "index": (
        Example("refresh the index of this project", "prosa index"),
        Example("read every document again", "prosa index docs --rebuild"),
        Example("count the documents and links of this project", "prosa index --stats"),
    ),
    "search": (
        Example("sections with both words", "prosa search 'open letters'"),
        Example("a phrase, without a word, as paths only", "prosa search '\"five days\" -draft' --files"),
        Example("documents with a tag, updated this year", "prosa search refund --tag billing --since 2026-01-01"),
        Example("documents like this one", "prosa search --similar docs/refunds.md"),
    ),
    "links": (
        Example("links to and from a document", "prosa links docs/refunds.md"),
        Example("how one document leads to another", "prosa links plan.md triage"),
        Example("everything that depends on a document", "prosa links docs/refunds.md --impact"),
    ),
    "graph": (
        Example("draw the graph of this project", "prosa graph --format html -o graph.html"),
        Example("what is within two steps of a document", "prosa graph --around docs/refunds.md --depth 2"),
        Example("documents that nothing points at", "prosa graph --report orphans"),
    ),
    "rename": (
        Example("see what would change", "prosa rename docs/old.md docs/new.md --dry-run"),
        Example("move a document and update every link to it", "prosa rename docs/old.md docs/new.md"),
        Example("change an id and every reference to it", "prosa rename report letters-2026 --id"),
    ),
    "query": (
        Example(
            "the longest documents", "prosa query 'SELECT path, words FROM documents ORDER BY words DESC' --limit 5"
        ),
        Example("the tables and their columns", "prosa query --help"),
    ),
    "enrich": (
        Example("write hashes only; nothing is sent", "prosa enrich ticket.ymj --no-embed"),
        Example("vectors too, from the model on this machine", "prosa enrich records --embedding-model local"),
    ),
    "serve": (
        Example("serve this folder at http://127.0.0.1:8000/", "prosa serve"),
        Example("another folder, on any free port", "prosa serve docs --port 0"),
        Example("let people who know the token run programs", "prosa serve . --allow-run --max-cost 1"),
    ),
    "view": (
        Example("show what your store has at http://127.0.0.1:8040/", "prosa view"),
        Example("the store of a batch, on any free port", "prosa view --store runs.sqlite --port 0"),
    ),
    "mcp": (
        Example("what an agent starts", "prosa mcp docs"),
        Example("print what Claude Code needs to know", "prosa mcp config --client claude"),
        Example("let agents run the programs of a folder", "prosa mcp . --allow-run='programs/*.md'"),
    ),
    "build": (
        Example("write the site of a folder", "prosa build docs public"),
        Example("with the address that it will have", "prosa build docs public --base-url https://example.org"),
        Example("only what agents need, beside a site of MkDocs", "prosa build docs site --beside site"),
    ),
    "visit": (
        Example("read a page", "prosa visit https://example.org"),
        Example("follow two of its links", "prosa visit https://example.org --follow 2 --follow prices"),
        Example("copy a site, at most 50 pages of it", "prosa visit https://example.org --crawl copy --max-pages 50"),
        Example("fetch the skills of a site", "prosa visit https://example.org --skills --output skills"),
    ),
    "call": (
        Example("list the actions of a page", "prosa call https://example.org/ferries"),
        Example("see the request", "prosa call https://example.org/ferries book date=2026-12-01 --dry-run"),
        Example("send it", "prosa call https://example.org/ferries book date=2026-12-01"),
    ),
    "probe": (
        Example("test a running site", "prosa probe https://example.org"),
        Example("test a folder before it is published", "prosa probe docs --strict"),
    ),
    "init": (
        Example("see what this project lacks", "prosa init --dry-run"),
        Example("write all of it", "prosa init"),
        Example("the workflow alone", "prosa init --ci"),
    ),
    "new": (
        Example("drafts of cases and requests for a skill", "prosa new evals skills/refunds --model gpt-4o"),
        Example("list the kinds of documents", "prosa new --list"),
        Example("write a program to triage.md", "prosa new program triage"),
        Example("write a first test of it to triage.test.md", "prosa new test triage"),
        Example("print a skill", "prosa new skill"),
        Example("write a record after a profile", "prosa new ymj T-17 --profile ticket --owner ada"),
    ),
    "trust": (
        Example("let the scripts of a document run by themselves", "prosa trust report.mda"),
        Example("what is trusted, and what has changed since", "prosa trust --list"),
        Example("revoke trust", "prosa trust report.mda --remove"),
    ),
    "agree": (
        Example("read the agreement and type its phrase", "prosa agree"),
        Example("without a terminal", "prosa agree --phrase 'Trans rights are human rights'"),
    ),
    "login": (
        Example("log in in a browser", "prosa login https://mcp.example.org/mcp"),
        Example("with a code, on a machine without a browser", "prosa login https://mcp.example.org/mcp --device"),
        Example("ask for certain rights", "prosa login https://mcp.example.org/mcp --scope 'read write'"),
        Example("list your logins, and when they end", "prosa login"),
    ),
    "logout": (Example("revoke the tokens and delete them", "prosa logout https://mcp.example.org/mcp"),),
    "models": (
        Example("servers on this machine, and services with a key", "prosa models"),
        Example("the models of one service, which is asked", "prosa models google"),
        Example("those of Ollama alone, for another program", "prosa models ollama --format json"),
    ),
    "doctor": (
        Example("look over this installation", "prosa doctor"),
        Example("ask the model service too", "prosa doctor --online"),
    ),
    "completion": (
        Example("in bash, for this session", 'eval "$(prosa completion bash)"'),
        Example("in fish, for good", "prosa completion fish > ~/.config/fish/completions/prosa.fish"),
    ),
    "demo": (Example("take the tour", "prosa demo"),),
}

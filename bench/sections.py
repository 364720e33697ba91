"""The sections of the benchmarks: their modules, and what the page says of each.

Every section says what it does not compare. One with a reason to be asked for runs only where it is named.
"""

from __future__ import annotations

from msgspec import Struct


class Section(Struct, frozen=True):
    """``module`` has `rows()`; ``asked`` is why it does not run by default, ``seconds`` how long it may take."""

    module: str
    title: str
    about: str
    asked: str = ""
    seconds: float = 1_200


SECTIONS = {
    "startup": Section(
        "bench.startup",
        "whole processes",
        "Commands from their start to their end, beside an interpreter that does nothing. Wall time counts the load "
        "of the machine, instructions do not. Not compared: other tools, as no other runs programs of this kind.",
    ),
    "growth": Section(
        "bench.growth",
        "a corpus that doubles",
        "Checks and new indexes of generated documents of all dialects, without a cache, in CPU time of all "
        "processes. Not compared: what the others find or store, which is less; see the sections `check` and "
        "`index`.",
    ),
    "check": Section(
        "bench.checking",
        "a folder of documents",
        "The Rust Book with its older editions, and generated documents of all dialects. Each program checks the "
        "same files with its defaults. Not compared: what they find. The others look at style and layout; Prosa "
        "asks what documents mean, where their links lead, and whether the corpus agrees with itself.",
    ),
    "context": Section(
        "bench.context",
        "what agents read",
        "Faults that were planted in context files, and this repository. The planted folder is our own, so its rows "
        "flatter us. Not compared: whether what is said of real files is right, and the documents besides context "
        "files, which Prosa checks in the same time.",
    ),
    "resident": Section(
        "bench.resident",
        "one document beside five thousand",
        "An edit in a workspace that stays in memory, and a hook that checks three documents of a corpus. The "
        "baseline of an edit is the analysis of its text alone. Not compared: other tools, as none keeps a checked "
        "corpus in memory.",
    ),
    "lsp": Section(
        "bench.lsp",
        "the language server",
        "Over the wire, as an editor meets it: the 95th percentile, and CPU time of the server. Not compared: other "
        "language servers; those for Markdown are in no registry that peers are installed from.",
    ),
    "read": Section(
        "bench.reading",
        "the reader alone",
        "Markdown to elements with their spans, beside a parser that makes tokens and one that makes events. Not "
        "compared: what they give; neither knows columns, references or dialects.",
    ),
    "index": Section(
        "bench.indexing",
        "a corpus",
        "Whole processes where a row says wall or CPU; all other rows are answers of an open corpus. Bare FTS5 is "
        "the least an index can cost: every file read into one table. Not compared: sections, fields and links, "
        "which it does not have; markdown-vault-mcp reads `.md` alone, four documents of five, and its vectors are "
        "not configured; obsidiantools stores nothing.",
    ),
    "mcp": Section(
        "bench.searching",
        "search over MCP",
        "Two servers over standard input and output, asked for ten hits by the same client. Not compared: what they "
        "return: Prosa gives sections with headings and lines, markdown-vault-mcp snippets of chunks, without "
        "vectors.",
    ),
    "build": Section(
        "bench.building",
        "a static site",
        "The Rust Book as a static site. Prosa writes three forms of each page and an index for search, MkDocs one "
        "form and an index. Not compared: themes, plug-ins, and builds that keep what did not change.",
    ),
    "serve": Section(
        "bench.serve",
        "a site",
        "The bare server is Starlette on uvicorn with one route; it gives the same bytes with the same headers, "
        "without a log. Not compared: servers of other languages, and files that a web server sends by itself.",
    ),
    "calls": Section(
        "bench.model_calls",
        "what the loop adds to a model call",
        "A server without latency on loopback. A run of Prosa includes input, template, prompt, validation and "
        "events. The openai client returns the reply unvalidated; pydantic-ai validates an output type; llm makes a "
        "client for every call and is asked one after another only. Not compared: streaming, tools, and anything a "
        "real model takes.",
    ),
    "evals": Section(
        "bench.evaluating",
        "a suite of test cases",
        "A hundred cases of one call with one assertion each, against the server of `calls`, four at once, without "
        "a cache. Not compared: graders that ask a model, comparisons of variants, statistics, reports.",
    ),
    "record": Section(
        "bench.recording",
        "runs that are recorded and played",
        "A recording is written whole and forced to the disk once, at the end of its run. Not compared: others.",
    ),
    "tests": Section(
        "bench.tests",
        "a test that is replayed",
        "A hundred cases of one call, played from a recording. Not compared: other tools, which have no recordings "
        "of this kind; see `evals` for suites that ask a model.",
    ),
    "history": Section(
        "bench.history",
        "what the journal of runs costs",
        "Runs in an open store beside runs without one. A call is forced to the disk before its answer is used. Not "
        "compared: other stores.",
    ),
    "batch": Section(
        "bench.batch",
        "what a row costs",
        "Rows of a batch with their journal. The baselines keep nothing and cannot resume. Not compared: batch "
        "services of providers.",
    ),
    "mail": Section(
        "bench.mail",
        "messages between programs",
        "Messages in a file of SQLite, each forced to the disk. Not compared: message brokers.",
    ),
    "sandbox": Section(
        "bench.sandbox",
        "the built-in Python tool",
        "A call of Python inside WebAssembly beside a new process, which is not isolated. Not compared: containers "
        "and virtual machines.",
    ),
    "pure": Section(
        "bench.pure",
        "templates and schemas",
        "Functions without input and output. `str.format_map` knows no loops and no conditions. Not compared: other "
        "template engines.",
    ),
    "workers": Section(
        "bench.workers",
        "one batch, several processes",
        "Worker processes that share a batch on a private PostgreSQL. Not compared: job queues.",
        "it needs the programs of a PostgreSQL server",
    ),
    "embedded": Section(
        "bench.embedded",
        "the model in the box",
        "The engine with the smallest model. Not compared: other engines.",
        "it needs the engine and the weights: `prosa models pull smollm2`",
    ),
    "improve": Section(
        "bench.improve",
        "what a search accepts",
        "Scripted worlds in which the truth is known. Not compared: other optimisers, and real models.",
        "it takes half an hour",
        3 * 3600,
    ),
}
"""By name, in the order of the page."""

DEFAULT = [name for name, each in SECTIONS.items() if not each.asked]

PEERS = (
    "rumdl",
    "markdownlint-cli2",
    "mdformat",
    "agnix",
    "ctxlint",
    "markdown-vault-mcp",
    "obsidiantools",
    "networkx",
    "mkdocs",
    "openai",
    "pydantic-ai",
    "llm",
    "promptfoo",
)
"""Other programs and libraries, whose versions the page names."""

HEADLINES = (
    ("check", "cold, --no-cache"),
    ("build", "wall"),
    ("calls", "one after another"),
    ("evals", "CPU"),
    ("mcp", "a search"),
    ("index", "cold, CPU of all processes"),
    ("serve", "Markdown, requests a second"),
    ("startup", "prosa check FILE"),
)
"""Sections and words of rows that open the page."""

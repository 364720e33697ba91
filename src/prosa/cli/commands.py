"""The table of commands: one line each, in the groups and the order of `--help`. Nothing is loaded before it is called.

A command is a module with

    configure(parser)                       adds its arguments
    run(args, console) -> int               does the work, gives the exit status: 0 well, 1 findings or a failed run,
                                            2 wrong use
    parse(parser, argv, console)            optional: parses the arguments itself
    help_for(argv, console) -> int | None   optional: answers --help itself, or gives None to leave it to the parser

Only commands that work are listed.
"""

from __future__ import annotations

TYPE_CHECKING = False  # help loads neither `typing` nor what makes tuples with names
if TYPE_CHECKING:
    from collections.abc import Iterator


class Lists:
    """The ``keys`` of the lists in the JSON of a command; an answer that is a list itself needs none. ``last`` means
    that `--limit` takes the last rows, so that no more than those can be asked for."""

    __slots__ = ("keys", "last")

    def __init__(self, keys: tuple[str, ...] = (), *, last: bool = False) -> None:
        self.keys, self.last = keys, last


class Command:
    """One command: its name, the module that does it, and the line that `prosa --help` prints
    in its group. A command that ``lists`` something takes the flags of `parts`."""

    __slots__ = ("group", "lists", "module", "name", "summary")

    def __init__(self, name: str, module: str, summary: str, group: str = "", lists: Lists | None = None) -> None:
        self.name, self.module, self.summary, self.group, self.lists = name, module, summary, group, lists


GRAPH_LISTS = ("nodes", "edges", "contradictions", "orphans", "cycles", "components", "rank", "unresolved", "wanted")

COMMANDS: tuple[Command, ...] = (
    Command("run", "prosa.cli.run.command", "run a program, a skill, or the ai-scripts of a document", "run"),
    Command("plan", "prosa.cli.plan", "print everything a run would do, without doing it", "run"),
    Command("render", "prosa.cli.render", "print the prompt a run would send, without sending it", "run"),
    Command("chat", "prosa.cli.chat.command", "answer the last message of a chat and append the reply", "run"),
    Command("test", "prosa.cli.test", "run the tests of programs and skills, and count what passes", "run"),
    Command(
        "improve", "prosa.cli.improve", "search for a better skill or program, with proof on held-out cases", "run"
    ),
    Command("batch", "prosa.cli.batch", "run a program over many rows, and continue where it stopped", "run"),
    Command(
        "mail",
        "prosa.cli.mail",
        "list mailboxes, read them, and send to programs",
        "run",
        Lists(("mailboxes", "messages"), last=True),
    ),
    Command("worker", "prosa.cli.worker", "take rows of batches from a server, or messages from a mailbox", "run"),
    Command("runs", "prosa.cli.runs", "list runs, show one, or compare two", "run", Lists(("runs", "calls"))),
    Command("report", "prosa.cli.report", "write a stored test, batch or run as a page", "run"),
    Command("check", "prosa.cli.check", "report problems in documents", "check", Lists(("diagnostics",))),
    Command("fmt", "prosa.cli.fmt", "bring documents to the normal form of their dialect", "check"),
    Command("show", "prosa.cli.show", "print the typed content of a document", "check"),
    Command("convert", "prosa.cli.convert", "convert documents from one form into another", "check"),
    Command(
        "explain", "prosa.cli.explain", "print the page of a rule or a dialect", "check", Lists(("rules", "dialects"))
    ),
    Command("lsp", "prosa.cli.lsp", "check documents in an editor while they are written", "check"),
    Command("index", "prosa.cli.index", "build or refresh the index of a corpus, or print its statistics", "know"),
    Command("search", "prosa.cli.search", "find sections by words, filters or meaning", "know", Lists(("hits",))),
    Command(
        "links",
        "prosa.cli.links",
        "show links to and from a document, paths, and what depends on it",
        "know",
        Lists(("out", "back", "unresolved", "steps", "reached")),
    ),
    Command("graph", "prosa.cli.graph", "print or draw the graph of a corpus", "know", Lists(GRAPH_LISTS)),
    Command("rename", "prosa.cli.rename", "move a document or change its id, and update every reference", "know"),
    Command("query", "prosa.cli.query", "query the index in SQL, read-only", "know", Lists(("rows",))),
    Command("enrich", "prosa.cli.enrich", "write vectors and hashes into YMJ records", "know"),
    Command("serve", "prosa.cli.serve", "serve a folder as a site for agents and people", "serve"),
    Command("view", "prosa.cli.view", "show runs, tests and batches live in a browser", "serve"),
    Command("mcp", "prosa.cli.mcp", "give agents a folder over the Model Context Protocol", "serve"),
    Command("build", "prosa.cli.build", "write the site of a folder as static files", "serve"),
    Command("visit", "prosa.cli.visit", "read a page of a site, follow its links, or copy the site", "serve"),
    Command("call", "prosa.cli.call", "call an action that a page of a site declares", "serve"),
    Command("probe", "prosa.cli.probe", "test a site or a folder for conformance to MDH", "serve"),
    Command("init", "prosa.cli.init", "write what a project needs, and only what is absent", "set up"),
    Command("new", "prosa.cli.new", "write a new document from a template", "set up"),
    Command("trust", "prosa.cli.trust", "let the scripts or tools of a document run by themselves", "set up"),
    Command("agree", "prosa.cli.agree", "accept the agreement that gates markdownlang programs", "set up"),
    Command("login", "prosa.cli.login", "log in to an MCP server, or list your logins", "set up"),
    Command("logout", "prosa.cli.logout", "end a login at an MCP server, and delete its tokens", "set up"),
    Command(
        "models",
        "prosa.cli.models",
        "list the models you can use, on this machine and at services",
        "set up",
        Lists(("embedded", "local", "services")),
    ),
    Command(
        "agents", "prosa.cli.agents", "list coding agents that can try your skills, and probe them", "set up", Lists()
    ),
    Command("doctor", "prosa.cli.doctor", "diagnose this installation, and say what to do", "set up"),
    Command("completion", "prosa.cli.completion", "print the completion script for a shell", "set up"),
    Command("demo", "prosa.cli.demo.command", "take the tour on shipped examples; no key, no network", "set up"),
)

HIDDEN: tuple[Command, ...] = (
    Command("complete", "prosa.cli.complete", "print what may follow on a command line; shells ask this"),
)
"""Commands that other programs call, and `--help` does not list."""

ALIASES: dict[str, tuple[str, ...]] = {
    "impact": ("links", "--impact"),
    "path": ("links",),
    "stats": ("index", "--stats"),
}
"""Older spellings that still work and that `--help` does not list: a command and the flags that it is called with."""

ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("lint", "validate", "verify"), "check"),
    **dict.fromkeys(("move", "mv"), "rename"),
    **dict.fromkeys(("eval", "evals"), "test"),
    **dict.fromkeys(("find", "grep"), "search"),
    "exec": "run",
    "fix": "check --fix",
    "format": "fmt",
}
"""The names that other tools have for what a command does: a hint, not a name of ours."""

FIRST = ("check", "fmt", "show", "test", "run", "plan", "chat", "batch", "search", "serve", "new", "runs")
"""The commands on the first screen of help, in its order."""

SETTABLE: dict[str, bool] = {
    **dict.fromkeys(
        ("batch", "build", "chat", "improve", "mcp", "plan", "render", "run", "serve", "test", "worker"), True
    ),
    **dict.fromkeys(("check", "fmt", "lsp"), False),
}
"""The commands that take `--set`, and whether settings of the user have an effect on them."""

EXIT_STATUSES: tuple[tuple[int, str], ...] = (
    (0, "all well"),
    (1, "findings, or a run that failed"),
    (2, "wrong use"),
    (130, "interrupted with Ctrl-C"),
    (143, "ended by a signal, here SIGTERM: 128 and its number"),
)
"""The exit statuses of a command. Those of signals are the convention of shells."""


HELP_FLAGS = ("-h", "--help")
"""What asks for help, behind the name of a command or in its place."""


def find(name: str) -> Command | None:
    """Return the command of that name."""
    return next((command for command in (*COMMANDS, *HIDDEN) if command.name == name), None)


def overview(version: str, *, whole: bool = False) -> str:
    """Return the text of `prosa --help`: twelve commands, or all of them for `prosa help all`."""
    width = max(len(command.name) for command in COMMANDS)
    groups = dict.fromkeys(command.group for command in COMMANDS)
    if whole:
        lines = "\n\n".join("\n".join(_group(name, width)) for name in groups)
    else:
        first = (next(command for command in COMMANDS if command.name == name) for name in FIRST)
        lines = "\n".join(_line(command, width) for command in first)
        lines += f"\n\n`prosa help all` lists all {len(COMMANDS)} commands."
    statuses = "; ".join(f"{number} {meaning}" for number, meaning in EXIT_STATUSES[:3])
    return f"""\
Prosa {version}: one toolchain and runtime for Markdown that agents act on.

usage: prosa COMMAND [ARGUMENTS…]

{lines}

options:
  -h, --help     print this text; `prosa COMMAND --help` describes a command
  -V, --version  print the version
  -q, --quiet    no progress and no notices on stderr
  --debug        show where an error comes from (also: PROSA_DEBUG=1)

Exit status: {statuses}."""


def _group(name: str, width: int) -> Iterator[str]:
    """Yield the lines of a group: its name, and a line for each of its commands."""
    yield f"{name}:"
    yield from (_line(command, width) for command in COMMANDS if command.group == name)


def _line(command: Command, width: int) -> str:
    return f"  {command.name:<{width}}  {command.summary}"

"""The small end of the house: no module that only one neighbour needs, no circle of imports, imports at the head."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.house.tree import PACKAGE, modules, source, statements, statements_in

LEAST_LINES = 60

ALONE: dict[str, str] = {
    "web.api_life": "The lifespan protocol of ASGI, about an application that is not ours.",
}
"""Small modules with one user in their own folder that stay files of their own, each with the reason."""

LATE: dict[str, str] = {
    "adapters.agents.upstream": "The HTTP library loads with the first request of an agent.",
    "adapters.agents.attempt": "The proxy and its HTTP server load where a service is asked through them.",
    "app.agents.live": "What runs agents is not loaded to name where their workspaces are kept.",
    "app.evals.plan": "The prices of models load only for an agent whose model is named.",
    "app.evals.run": "What runs agents loads only for a test in agents.",
    "adapters.processes.pool": "What forked processes talk with loads only where there is work for several.",
    "adapters.files.agreement_store": "What writes files loads only when a user agrees.",
    "adapters.files.skill_files": "What knows the globs of git loads only to list the files of a skill.",
    "adapters.files.trust_store": "What walks folders loads only where one is trusted.",
    "adapters.sandbox.parts": "What is said of a missing library loads only where one is missing.",
    "adapters.sandbox.late": "What talks to worker processes loads with the first call of Python.",
    "adapters.http.exchange": "The HTTP library loads with the first request; one that is only shown needs none.",
    "adapters.mcp.servers": "The MCP library loads when the first server is started.",
    "adapters.providers.embeddings": "The HTTP library loads when vectors are asked for.",
    "adapters.providers.batch_service": "The HTTP client loads with the first request, for a fifth of a second.",
    "adapters.providers.endpoint": "What hides a key loads where a service is asked; scripted replies need none.",
    "adapters.providers.listing": "The HTTP library loads when a service is asked for its models.",
    "adapters.providers.exchange": "The HTTP library loads when a model is asked; scripted replies need none.",
    "adapters.sandbox.cache": "The WebAssembly runtime loads when there is Python to run.",
    "adapters.sandbox.process": "What holds processes on Windows loads there.",
    "adapters.store.opening": "What talks to PostgreSQL loads only for a store that is on a server.",
    "adapters.sqlite.writing": "What makes rows of documents needs their parsers, and is not loaded to read rows.",
    "adapters.sqlite.refresh": "What updates the index needs the parsers, and loads only when a file has changed.",
    "adapters.sqlite.search": "Dates are read only for a search that is limited by one.",
    "api.arguments": "The table of services loads for a model whose name has the prefix of one.",
    "api.run": "Importing the names of the Python interface loads no event loop; running a program does.",
    "render.outline": "What finds the types of a schema loads with the first one.",
    "template.funcs": "What formats as Go does loads with the first `printf`.",
    "render.rows": "What runs mail is not loaded to print rows.",
    "app.batch.control": "The queue of a server loads only for a batch that is on one.",
    "app.batch.shared": "The queue of a server loads only for a batch that is on one.",
    "app.batch.working": "The queue of a server loads only for a batch that is on one.",
    "app.chat.prepare": "Skills are read only for a chat that is given some.",
    "app.check.check": "The cache of results loads only for a check that keeps them.",
    "app.check.gather": "The rules of a project's own files load only where it has such files.",
    "app.check.project": "The rules of a project's own files load only for settings that say something.",
    "app.check.show": "Only what the dialect of the document needs is loaded to show it.",
    "app.corpus.ask": "What reads relationships loads only for a question that names a type of them.",
    "app.corpus.documents": "Links are followed in the index only for what lists them.",
    "app.corpus.follow": "What is said of a missing library loads only where one is missing.",
    "app.corpus.semantic": "The model on this machine loads numpy, the service a client; each only if chosen.",
    "app.corpus.similar": "What compares vectors with numpy loads only where the index has vectors.",
    "app.corpus.open": "The dialects of a project are read only where its settings name some.",
    "app.corpus.search": "What asks by meaning loads only for a search that does.",
    "document.document": "What finds addresses and mathematics loads only for a document that may hold some.",
    "app.doctor": "What runs embedded models loads only where the looks come to it.",
    "app.journal.history": "Estimates are made for a plan; to list and compare runs none is needed.",
    "app.journal.query": "The views of runs are named without the store; it is opened by the first question.",
    "app.login.begin": "The OAuth client of the `mcp` library loads only when somebody logs in or out.",
    "app.login.renewal": "The OAuth client of the `mcp` library loads only when a token is about to end.",
    "app.options": "Options are values below the use cases; rights at sites are read only if some are given.",
    "app.permission": "What knows trusted documents loads only where a document needs trust.",
    "app.pull": "The HTTP library loads only for a download; weights out of a file need none.",
    "app.run.embedded": "The HTTP library loads when the engine is asked.",
    "app.run.facts": "What runs embedded models loads only for an estimate of one.",
    "app.run.load": "What reads skills loads only for a skill.",
    "app.run.jobs": "Mailboxes load only for a program that has one.",
    "app.run.service": "Each provider, and the file of keys, is loaded when it is chosen; a plan asks none.",
    "app.run.recorded": "What reads and plays recordings loads only for a run that records or plays.",
    "app.run.world": "Servers, sites, the sandbox, recordings and budgets load only for a run that has some of them.",
    "app.settings": "The reader of TOML, and the table of services, load only where settings need them.",
    "app.site.live": "What is said of a fault of our own loads where there is one.",
    "convert.convert": "What is said of a fault of our own loads where there is one.",
    "corpus.extract": "Each dialect loads with its first document.",
    "data.yaml": "What takes the events of libyaml loads with the first text that is not plain.",
    "dialects.front": "The parser of Markdown loads with the first document that is not in the cache.",
    "dialects.markdownlang.model": "The validator of schemas loads when the first value is validated.",
    "dialects.markdownlang.read": "The parser of Markdown loads with the first body that is read.",
    "dialects.reading": "The parser of Markdown loads with the first body that is read.",
    "dialects.table": "The table loads each dialect with its first document.",
    "render.plain": "What tells which invisible characters are needed loads only for a text with some.",
    "evaluation.jsonpath": "The parser of queries loads with the first query.",
    "graph.closure": "What tells dialects apart loads only for an import from outside the root.",
    "render.text": "What knows credentials loads only where a line of a document is quoted.",
    "rules.analyse": "The rules of programs load with the first program.",
    "rules.analyzer": "What reads documents loads in the process that reads them.",
    "rules.document.links": "What a project demands, and what resolves wikilinks, loads only where there is some.",
    "rules.document.safety": "The parser of Markdown loads with the first document that is not in the cache.",
    "rules.document.text": "What tells which invisible characters are needed loads only for a text with some.",
    "rules.engine": "A check of what is known loads no rule; programs and suppressions load if there are any.",
    "rules.magi.expiry": "Few projects lend a day of expiry; only for these a second document is read.",
    "rules.mdh.actions": "The validator of schemas loads with the first schema of an action.",
    "rules.fix": "What is said of a fault of our own loads where there is one.",
    "rules.program_groups": "The rules of programs load with the first program.",
    "rules.policy": "What matches globs loads only for settings that have some.",
    "rules.rule": "What is said of a fault of our own loads where there is one.",
    "rules.programs": "The parser of Markdown loads with the first program that is not in the cache.",
    "runtime.execute": "Mailboxes load only for a program that has one.",
    "runtime.gather": "Mailboxes and skills load only for a program that has some.",
    "runtime.prompt": "What describes skills loads only for a program that has some.",
    "runtime.output": "The parser of Markdown loads for an output in fenced code.",
    "web.assets": "Style sheets and scripts are read when the first of them is asked for.",
    "web.endpoints": "What runs for visitors loads only for a site that allows runs.",
    "web.serving": "The HTTP server loads when it listens; a site that is written to files needs none.",
    "web.static": "What is said of a fault of our own loads where there is one.",
    "settings.environment": "What reads settings loads only where some are given for this call.",
}
"""Modules outside the command line that import our own code inside functions, each with the reason."""


@cache
def _paths() -> dict[str, Path]:
    """The modules of the package by dotted name."""
    return {_dotted(path): path for path in modules()}


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def _named(node: ast.AST) -> Iterator[str]:
    """The modules of our own that an import statement names."""
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in _paths() else node.module
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)


def _imports(among: Iterable[ast.stmt]) -> set[str]:
    return {name for node in among for name in _named(node) if name in _paths()}


def _without_annotations(tree: ast.Module) -> ast.Module:
    """The module without what only the type checker imports."""
    body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")]
    return ast.Module(body, [])


@cache
def _uses() -> dict[str, set[str]]:
    """What every module imports anywhere in it, for the type checker too."""
    return {name: _imports(statements(path)) - {name} for name, path in _paths().items()}


def test_a_small_module_with_one_user_beside_it_has_a_reason():
    users: dict[str, set[str]] = {}
    for user, used in _uses().items():
        for each in used:
            users.setdefault(each, set()).add(user)
    small = {
        name.removeprefix("prosa.")
        for name, path in _paths().items()
        if path.name != "__init__.py"
        and not name.startswith("prosa.cli.")
        and source(path).count("\n") < LEAST_LINES
        and {user.rpartition(".")[0] for user in users.get(name, ())} == {name.rpartition(".")[0]}
        and len(users[name]) == 1
    }
    assert small == set(ALONE)
    assert all(reason.endswith(".") for reason in ALONE.values())


def test_no_circle_of_imports_anywhere():
    """The package itself, which names what it opens, is left out."""
    edges = {name: used - {"prosa"} for name, used in _uses().items() if name != "prosa"}
    while leaves := [name for name, used in edges.items() if not used & edges.keys()]:
        for name in leaves:
            del edges[name]
    in_circles = {name for name in edges if _reaches(name, name, edges)}
    assert in_circles == set()


def _reaches(start: str, goal: str, edges: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    ahead = list(edges[start] & edges.keys())
    while ahead:
        name = ahead.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            ahead.extend(edges[name] & edges.keys())
    return False


def test_our_own_code_is_imported_at_the_head_of_a_module():
    """But in the command line, which loads what a command needs, and in the lazy names of the package; elsewhere with
    a reason (docs/decisions/0025)."""
    late = {
        name.removeprefix("prosa.")
        for name, path in _paths().items()
        if name != "prosa" and not name.startswith("prosa.cli")
        for function in statements(path)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and _imports(statements_in(function))
    }
    assert late == set(LATE)

"""What a script may reach outside of itself: the network, the environment, files, the shell (X38). Nothing is executed.

In: the text of a script. Out: places, each with the method that found it: ``ast`` for Python that can be read, else
``pattern``, which sees names and not what they mean. Linear; a long script is read up to a limit.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.dialects.facts import ReachLine

MAX_SCRIPT = 1_000_000
"""Characters of one script that are read."""

MAX_LINE = 2_000
"""Characters of one line that are searched by patterns; longer ones are data, or were packed by a program."""

MAX_REACHES = 500
"""Places of one script that are listed."""

Target: TypeAlias = Literal["environment", "files", "network", "shell"]
Method: TypeAlias = Literal["ast", "pattern"]
Language: TypeAlias = Literal["python", "javascript", "shell", "powershell"]

_SUFFIXES: dict[str, Language] = {
    **dict.fromkeys((".py", ".pyw"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), "javascript"),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh", ".fish"), "shell"),
    **dict.fromkeys((".ps1", ".psm1", ".bat", ".cmd"), "powershell"),
}
_FIRST_LINE: tuple[tuple[re.Pattern[str], Language], ...] = (
    (regex(r"#![^\n]{0,200}\bpython"), "python"),
    (regex(r"#![^\n]{0,200}\b(?:node|deno|bun|tsx)\b"), "javascript"),
    (regex(r"#![^\n]{0,200}\b(?:ba|z|da|k|fi)?sh\b"), "shell"),
    (regex(r"#![^\n]{0,200}\bpwsh\b"), "powershell"),
)


class Reach(Struct, frozen=True, order=True):
    """A place of a script that reaches ``target``; ``name`` is what does it there. They sort by file and line."""

    path: str
    line: int
    target: Target
    name: str
    method: Method

    def facts(self) -> ReachLine:
        """Return the object that `prosa show` prints."""
        return {
            "path": self.path,
            "line": self.line,
            "target": self.target,
            "name": self.name,
            "method": self.method,
        }


def language_of(path: str, text: str) -> Language | None:
    """Return the language of a script by its suffix, else by its first line; None for a file that is no script."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix:
        return _SUFFIXES.get(suffix)
    return next((language for pattern, language in _FIRST_LINE if pattern.match(text)), None)


def reaches(path: str, text: str) -> tuple[Reach, ...]:
    """Return what a script reaches, by line; nothing for a file that is no script."""
    language = language_of(path, text)
    if language is None:
        return ()
    text = text[:MAX_SCRIPT]
    tree = _tree(text) if language == "python" else None
    method: Method = "pattern" if tree is None else "ast"
    reached = _by_pattern(text, language) if tree is None else _by_tree(tree)
    ordered = sorted({Reach(path, line, target, name, method) for line, target, name in reached})
    return tuple(ordered[:MAX_REACHES])


_Place: TypeAlias = tuple[int, Target, str]


# Python, by its syntax tree: names are followed through imports, and values are not.

_MODULES: dict[Target, str] = {
    "network": """aiohttp anthropic boto3 botocore ftplib google.cloud google.genai google.generativeai http.client
        http.server httpx huggingface_hub imaplib openai paramiko playwright poplib pycurl requests selenium slack_sdk
        smtplib socket socketserver ssl telnetlib urllib.request urllib3 websocket websockets xmlrpc yt_dlp""",
    "environment": "decouple dotenv environs getpass keyring os.environ os.environb os.getenv",
    "files": """bz2.open codecs.open fileinput glob gzip.open io.open lzma.open mmap os.chmod os.chown os.link
        os.listdir os.makedirs os.mkdir os.open os.remove os.removedirs os.rename os.replace os.rmdir os.scandir
        os.symlink os.truncate os.unlink os.walk shelve shutil sqlite3 tarfile tempfile zipfile""",
    "shell": """asyncio.create_subprocess_exec asyncio.create_subprocess_shell ctypes importlib.import_module
        multiprocessing os.execl os.execv os.execve os.execvp os.fork os.kill os.popen os.posix_spawn os.spawnl
        os.spawnv os.startfile os.system pexpect pty runpy sh subprocess""",
}
_TARGETS: dict[str, Target] = {name: target for target, names in _MODULES.items() for name in names.split()}
_BUILTINS: dict[str, Target] = {"open": "files", **dict.fromkeys(("eval", "exec", "compile", "__import__"), "shell")}
_METHODS = frozenset(("read_bytes", "read_text", "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text"))
"""Methods of paths that no other type of the standard library has."""


def _tree(text: str) -> ast.Module | None:
    """Return the syntax tree of Python; None for what cannot be read, or is nested too deeply."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _by_tree(tree: ast.Module) -> Iterator[_Place]:
    nodes = list(ast.walk(tree))
    known = dict(_aliases(nodes))
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node)
        elif isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            name = _dotted(node, known)
            target = _target(name) if name else None
            if target is not None:
                yield node.lineno, target, name
            elif isinstance(node, ast.Attribute) and node.attr in _METHODS:
                yield node.lineno, "files", f".{node.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in known:
            builtin = _BUILTINS.get(node.func.id)
            if builtin is not None:
                yield node.lineno, builtin, node.func.id


def _aliases(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind, and what they stand for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield (name.asname, name.name) if name.asname else (name.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                yield name.asname or name.name, f"{node.module}.{name.name}"


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[_Place]:
    names = [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{name}" for name in names] if node.module and not node.level else []
    for name in names:
        target = _target(name)
        if target is not None:
            yield node.lineno, target, f"import {name}"


def _dotted(node: ast.expr, known: dict[str, str]) -> str:
    """Return the dotted name of an expression under the names that were imported; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in known:
        return ""
    return ".".join((known[node.id], *reversed(parts)))


def _target(name: str) -> Target | None:
    """Return what a dotted name reaches: it, or a module around it, is in the table."""
    parts = name.split(".")[:4]
    return next((target for end in range(len(parts), 0, -1) if (target := _TARGETS.get(".".join(parts[:end])))), None)


# Other languages, by the names in them.

_COMMAND = r"(?<![\w./$-])(?:{})(?![\w./=:-])"
_PATTERNS: dict[Language, tuple[tuple[Target, re.Pattern[str]], ...]] = {
    "python": (
        ("network", regex(r"\b(?:urllib2?|requests|httplib|httpx|socket|smtplib|ftplib)\b")),
        ("environment", regex(r"\bos\.(?:environ|getenv)\b")),
        ("files", regex(r"(?<![\w.])open(?= ?\()|\b(?:shutil|tempfile)\b|\bos\.(?:remove|unlink|rename|walk)\b")),
        ("shell", regex(r"\bsubprocess\b|\bos\.(?:system|popen|exec\w+)\b|(?<![\w.])(?:eval|exec)(?= ?\()")),
    ),
    "javascript": (
        ("network", regex(
            r"(?<![\w.])fetch(?= ?\()|\b(?:axios|XMLHttpRequest|WebSocket|EventSource|sendBeacon|Deno\.connect)\b"
            r"|[\"'](?:node:)?(?:https?2?|net|tls|dgram|dns)[\"']"
            r"|[\"'](?:node-fetch|undici|ws|got|superagent|puppeteer|playwright)[\"']"
        )),
        ("environment", regex(
            r"\b(?:process\.env|Deno\.env|Bun\.env|import\.meta\.env)(?:\.\w{1,60})?|[\"']dotenv[\"']"
        )),
        ("files", regex(
            r"[\"'](?:node:)?fs(?:/promises)?[\"']|[\"'](?:fs-extra|rimraf|glob)[\"']|\bfs\.\w{1,40}"
            r"|\bBun\.(?:file|write)\b|\bDeno\.(?:readTextFile|writeTextFile|readFile|writeFile|remove|open)\b"
        )),
        ("shell", regex(
            r"[\"'](?:node:)?child_process[\"']|[\"'](?:execa|shelljs|zx)[\"']|\b(?:execSync|spawnSync|execFile)\b"
            r"|(?<![\w.])(?:spawn|exec|eval)(?= ?\()|\bnew Function\b|\bDeno\.Command\b|\bBun\.spawn\b"
        )),
    ),
    "shell": (
        ("network", regex(_COMMAND.format(
            r"curl|wget|nc|ncat|netcat|socat|ssh|scp|sftp|rsync|ftp|telnet|dig|nslookup|ping|gh|aws|gcloud|az|kubectl"
            r"|docker|git (?:clone|push|pull|fetch)|npx|uvx"
            r"|(?:pip3?|npm|pnpm|yarn|brew|apt|apt-get|cargo|go|gem|uv) (?:install|add|i)"
        ) + r"|/dev/(?:tcp|udp)/")),
        ("environment", regex(
            _COMMAND.format("printenv|env|export -p")
            + r"|\$\{?[A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)\b"
        )),
        ("files", regex(_COMMAND.format(
            "rm|rmdir|cp|mv|tee|dd|chmod|chown|ln|mkdir|touch|tar|unzip|truncate|shred|sed -i|find|mktemp"
        ) + r"|(?<![<>=&-])>{1,2}(?![&>=(])")),
        ("shell", regex(_COMMAND.format(
            r"eval|source|sudo|su|xargs|nohup|crontab|(?:ba|z|da|k)?sh -c|python3? -c|node -e|perl -e|ruby -e"
        ))),
    ),
    "powershell": (
        ("network", regex(
            r"\b(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm|curl|wget|Net\.WebClient|Start-BitsTransfer)\b",
            re.IGNORECASE,
        )),
        ("environment", regex(
            r"\$env:\w{1,60}|\bGetEnvironmentVariable\b|%[A-Z][A-Z0-9_]{0,60}%", re.IGNORECASE
        )),
        ("files", regex(
            r"\b(?:Get|Set|Add|Clear)-Content\b|\bOut-File\b|\b(?:Copy|Move|Remove|New|Rename)-Item\b|\b(?:del|rd)\b",
            re.IGNORECASE,
        )),
        ("shell", regex(
            r"\b(?:Invoke-Expression|iex|Start-Process|Invoke-Command|cmd /c|Add-Type|Start-Job)\b", re.IGNORECASE
        )),
    ),
}  # fmt: skip
_COMMENT: dict[Language, tuple[str, ...]] = {
    "python": ("#",),
    "javascript": ("//", "*", "/*"),
    "shell": ("#",),
    "powershell": ("#", "rem ", "REM ", "::"),
}


def _by_pattern(text: str, language: Language) -> Iterator[_Place]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip()[:4].startswith(_COMMENT[language]):
            for target, pattern in _PATTERNS[language]:
                for match in pattern.finditer(line, 0, MAX_LINE):
                    yield number, target, match[0].strip("\"'").lstrip("${")

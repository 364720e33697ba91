"""The terminal, or its replacement: three streams, the environment, and whether prompts and colours are allowed.

In: the streams of the process, or those of a test. Out: text, always UTF-8, results on stdout and everything else on
stderr. It decides nothing about content and never raises for a closed reader, except `PipeClosed`, which ends the
command quietly.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys

TYPE_CHECKING = False  # help loads no `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from prosa.cli.failures import Failure

# Standard input is read like a document, so it has the limit of a document (X9).
MAX_STDIN_BYTES = 10 * 1024 * 1024


class Finished(Exception):
    """The command has nothing left to do: exit 0."""


class PipeClosed(Finished):
    """The reader of stdout went away (`prosa … | head`). `cli.main` ends the command quietly."""


class Console:
    """Where a command reads and writes.

    ``interactive`` says whether a person can be asked; ``color`` whether stdout may carry colour. ``quiet``
    is `-q`: no progress and no notices, only results, errors and warnings. ``failures`` collects the errors of a
    command that prints JSON (X43); None where they are for people.
    """

    __slots__ = ("color", "environ", "failures", "interactive", "quiet", "stderr", "stdin", "stdout")

    def __init__(
        self,
        stdin: TextIO,
        stdout: TextIO,
        stderr: TextIO,
        environ: Mapping[str, str],
        interactive: bool = False,
        color: bool = False,
        quiet: bool = False,
        failures: list[Failure] | None = None,
    ) -> None:
        self.stdin, self.stdout, self.stderr, self.environ = stdin, stdout, stderr, environ
        self.interactive, self.color, self.quiet, self.failures = interactive, color, quiet, failures

    @classmethod
    def from_process(cls) -> Console:
        """Return the streams of this process, switched to UTF-8. A closed stream is replaced by the null device."""
        stdin = _usable(sys.stdin, "r")
        stdout, stderr = _utf8(_usable(sys.stdout, "w")), _utf8(_usable(sys.stderr, "w"))
        environ = dict(os.environ)
        interactive = stdin.isatty() and stderr.isatty() and not in_ci(environ)
        return cls(stdin, stdout, stderr, environ, interactive, wants_color(environ, stdout.isatty()))

    def changed(
        self,
        *,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        environ: Mapping[str, str] | None = None,
        interactive: bool | None = None,
        quiet: bool | None = None,
        failures: list[Failure] | None = None,
    ) -> Console:
        """Return the same terminal with something else in its place."""
        return Console(
            self.stdin,
            self.stdout if stdout is None else stdout,
            self.stderr if stderr is None else stderr,
            self.environ if environ is None else environ,
            self.interactive if interactive is None else interactive,
            self.color,
            self.quiet if quiet is None else quiet,
            self.failures if failures is None else failures,
        )

    def out(self, text: str, *, end: str = "\n", styled: bool = False, control: str = "") -> None:
        """Write to stdout. A terminal gets no control characters, except Prosa's styles in a ``styled`` text, and
        ``control``, a sequence of Prosa, in front. Raises `PipeClosed` if the reader has closed it, `OSError` if the
        disk is full."""
        if self.stdout.isatty():
            from prosa.render.plain import for_terminal

            text = for_terminal(text, styled=styled)
        try:
            self.stdout.write(control + text + end)
            self.stdout.flush()
        except OSError as error:
            _detach(self.stdout)
            if isinstance(error, BrokenPipeError):
                raise PipeClosed from None
            raise OSError(error.errno, error.strerror, "standard output") from None

    def out_bytes(self, data: bytes) -> None:
        """Write bytes to stdout unchanged; to a terminal as text without control characters."""
        stream = getattr(self.stdout, "buffer", None)
        if stream is None or self.stdout.isatty():
            self.out(data.decode("utf-8", "replace"), end="")
            return
        self.stdout.flush()
        try:
            stream.write(data)
            stream.flush()
        except OSError as error:
            _detach(self.stdout)
            if isinstance(error, BrokenPipeError):
                raise PipeClosed from None
            raise OSError(error.errno, error.strerror, "standard output") from None

    def err(self, text: str, *, end: str = "\n", control: str = "") -> None:
        """Write to stderr, to a terminal as a styled text. A closed stderr is ignored."""
        if self.stderr.isatty():
            from prosa.render.plain import for_terminal

            text = for_terminal(text, styled=True)
        try:
            self.stderr.write(control + text + end)
            self.stderr.flush()
        except OSError:
            _detach(self.stderr)

    def note(self, text: str) -> None:
        """Write a notice to stderr, which needs no action. `-q` omits it."""
        if not self.quiet:
            self.err(text)

    def warn(self, text: str) -> None:
        """Write a line to stderr that `-q` keeps; beside JSON only errors are written there (X43)."""
        if self.failures is None:
            self.err(text)

    def ask(self, prompt: str) -> str | None:
        """Print a prompt on stdout and read one line without its end; None at the end of input."""
        self.out(prompt, end="")
        line = self.stdin.readline()
        return line.removesuffix("\n").removesuffix("\r") if line else None

    @property
    def is_fed(self) -> bool:
        """Whether standard input is a pipe or a file. A terminal or the null device has nothing to say."""
        try:
            mode = os.fstat(self.stdin.fileno()).st_mode
        except (OSError, ValueError):
            return not self.stdin.isatty()
        return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)

    def read_bytes(self, limit: int = MAX_STDIN_BYTES) -> bytes:
        """Return all of standard input, at most ``limit`` + 1 bytes: one more than allowed says that it is too
        large."""
        stream = getattr(self.stdin, "buffer", None)
        if stream is None:
            return self.stdin.read(limit + 1).encode("utf-8", "surrogatepass")[: limit + 1]
        data: bytes = stream.read(limit + 1)
        return data

    @property
    def color_err(self) -> bool:
        """Whether stderr may carry colour."""
        return wants_color(self.environ, self.stderr.isatty())

    @property
    def shows_progress(self) -> bool:
        """Whether a status line makes sense: stderr is a terminal that can move its cursor, outside CI."""
        return (
            not self.quiet and self.stderr.isatty() and not in_ci(self.environ) and self.environ.get("TERM") != "dumb"
        )


def in_ci(environ: Mapping[str, str]) -> bool:
    """Return whether ``CI`` is set to anything but an empty or false value."""
    return environ.get("CI", "").lower() not in ("", "0", "false")


def wants_color(environ: Mapping[str, str], terminal: bool) -> bool:
    """NO_COLOR wins, then FORCE_COLOR, then whether the stream is a terminal that knows colours."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return terminal and environ.get("TERM") != "dumb"


def _utf8(stream: TextIO) -> TextIO:
    """Return the same stream writing UTF-8 with plain line feeds; what UTF-8 cannot carry is written as an escape."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    return stream


def _usable(stream: TextIO | None, mode: str) -> TextIO:
    """Return the stream, or the null device where the process was started without it."""
    if stream is not None and not stream.closed:
        return stream
    return io.TextIOWrapper(io.FileIO(os.devnull, mode), encoding="utf-8", write_through=True)


def _detach(stream: TextIO) -> None:
    """Point a broken stream at the null device, so that the interpreter's own flush at exit stays quiet."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)

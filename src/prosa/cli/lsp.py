"""`prosa lsp`: documents in an editor, checked while typing, over the Language Server Protocol (X30).

It only communicates with the editor that started it, over standard input and output. Nothing is executed.
"""

from __future__ import annotations

import argparse
import os
import sys

from prosa.cli.console import Console
from prosa.cli.errors import say
from prosa.cli.libraries import load_event_loop, load_protocol
from prosa.cli.parser import WrongUse
from prosa.extras import is_installed, lacking


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `lsp`."""
    parser.add_argument("--stdio", action="store_true", help="use standard input and output, as always")
    parser.add_argument("--log", metavar="FILE", help="log the protocol to a file")
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0 after a regular end, 1 if the client disconnected without one, or sent an invalid message. Raises
    `WrongUse` if the library is missing."""
    if not is_installed("lsp"):
        raise lacking(WrongUse, "the language server", "lsp")
    load_event_loop()
    load_protocol()
    from prosa.lsp.server import serve_stdio
    from prosa.lsp.wire import BrokenWire

    output, sys.stdout = sys.stdout, sys.stderr  # accidental prints must not reach the wire
    # A stream of its own, which is never closed: its reader may still wait when the process ends, and Python would wait
    # for it to let go of the standard input.
    incoming = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    try:
        return serve_stdio(incoming, output.buffer, console.environ, args.log)
    except BrokenWire as error:
        say(console, str(error))
        return 1

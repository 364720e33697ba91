"""For all tests: signals as at a terminal.

A shell that starts the tests in the background lets them ignore SIGINT, and so would every process that they start;
Ctrl-C could not be tried then.
"""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

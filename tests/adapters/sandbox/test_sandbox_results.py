"""What a program gets back: stdout, stderr and error (L22)."""

from __future__ import annotations

import pytest

ENDS_WELL = [
    ("print(6 * 7)", "42\n"),
    ("", ""),
    ("print('no newline', end='')", "no newline"),
    ("import sys; sys.exit(0)", ""),
    ("import sys; sys.exit()", ""),
    ("import os; print('out', flush=True); os._exit(0)", "out\n"),
    ("print('h\u00e9 \u4e2d \U0001f600')", "h\u00e9 \u4e2d \U0001f600\n"),
    ("print(chr(0xd800))", "\\ud800\n"),
    ("import sys; sys.stdout.buffer.write(b'\\xc3\\xa9\\xff')", "\u00e9\\xff"),
    ("import sys; sys.stdout.buffer.write(b'\\xe4\\xb8'); sys.stdout.buffer.write(b'\\xad')", "\u4e2d"),
    ("import sys; sys.stdout.write('x' * 10**5); print()", "x" * 10**5 + "\n"),
    ("for i in range(3000): print(i)", "".join(f"{i}\n" for i in range(3000))),
    ("import sys; print(sys.stdin.read() == '')", "True\n"),
    ("print(__name__, __file__ if '__file__' in globals() else None)", "__main__ None\n"),
    ("if __name__ == '__main__': print('main')", "main\n"),
    ("import atexit; atexit.register(print, 'late'); print('early')", "early\nlate\n"),
    ("import sys; sys.stdout.close()", ""),
    ("print('a\\r\\nb\\0c')", "a\r\nb\0c\n"),
    ("# \ud800 half a pair in the source\nprint('still runs')", "still runs\n"),
]


@pytest.mark.parametrize(("code", "stdout"), ENDS_WELL)
def test_l22_a_program_that_ends_well(python, code, stdout):
    result = python(code)
    assert (result.stdout, result.stderr, result.error) == (stdout, "", None)


FAILS = [
    ("1 / 0", "ZeroDivisionError: division by zero"),
    ("raise ValueError('first\\nsecond')", "ValueError: first\nsecond"),
    ("x = = 1", "SyntaxError: invalid syntax"),
    ("def f():\nreturn 1", "IndentationError: expected an indented block after function definition on line 1"),
    ("import sys; sys.exit(3)", "SystemExit: 3"),
    ("import sys; sys.exit('reason')", "SystemExit: reason"),
    ("import os; os._exit(3)", "SystemExit: os._exit with a failure status"),
    ("input()", "EOFError: EOF when reading a line"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("raise ExceptionGroup('two', [ValueError(1), TypeError(2)])", "ExceptionGroup: two (2 sub-exceptions)"),
    ("class E(Exception):\n  def __str__(self): raise self\nraise E", "E: <exception str() failed>"),
    ("import sys; del sys.stdout, sys.stderr; sys.__stdout__ = None; 1 / 0", "ZeroDivisionError: division by zero"),
    ("import traceback; traceback.TracebackException = None; 1 / 0", "ZeroDivisionError"),
    ("1\0", "SyntaxError: source code string cannot contain null bytes"),
]


@pytest.mark.parametrize(("code", "reason"), FAILS)
def test_l22_a_program_that_fails(python, code, reason):
    assert python(code).error == f"execution failed: {reason}"


def test_l22_the_traceback_is_in_stderr_with_source_lines_and_without_our_own_frames(python):
    result = python("def half(x):\n    return x / 0\n\nprint('before')\nhalf(4)\n")
    assert result.stdout == "before\n"
    assert result.stderr == (
        'Traceback (most recent call last):\n  File "<python>", line 5, in <module>\n    half(4)\n    ~~~~^^^\n'
        '  File "<python>", line 2, in half\n    return x / 0\n           ~~^~~\nZeroDivisionError: division by zero\n'
    )


def test_l22_a_chained_failure_shows_both_tracebacks(python):
    stderr = python("try:\n    import numpy\nexcept ImportError as e:\n    raise KeyError('k') from e").stderr
    assert "direct cause" in stderr
    assert stderr.endswith("KeyError: 'k'\n")
    assert "prosa_guest" not in stderr


def test_l22_output_before_a_failure_is_kept_in_order(python):
    result = python("import sys\nfor i in range(700): print(i)\nprint('e', file=sys.stderr)\nraise SystemExit('end')")
    assert result.stdout == "".join(f"{i}\n" for i in range(700))
    assert result.stderr == "e\nend\n"


def test_l22_a_very_long_message_is_cut(python):
    error = python("raise ValueError('m' * 1_000_000)").error
    assert error is not None
    assert len(error) < 5_000


def test_code_of_absurd_length_is_an_error_not_an_exception(python):
    assert python("#" * (4 * 2**20 + 1)).error == "execution failed: the code is longer than 4 MB"

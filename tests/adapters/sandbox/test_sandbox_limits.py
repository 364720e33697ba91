"""Every limit, reached from inside: time, memory, output, files (L23, LA19, LW10)."""

from __future__ import annotations

import pytest

from prosa.runtime.errors import SandboxError

MB = 2**20

ENDLESS = {
    "loop": "while True: pass",
    "sleep": "import time; time.sleep(60)",
    "asyncio": "import asyncio; asyncio.run(asyncio.sleep(60))",
    "pattern": "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    "big number": "7 ** 10**8",
    "hostile __str__": "class E(Exception):\n  def __str__(self):\n    while True: pass\nraise E",
    "at exit": "import atexit\n@atexit.register\ndef f():\n  while True: pass",
    "swallowed": "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "host call": "import wit_world; wit_world.pause(2**32 - 1)",
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_l23_lw10_time_ends_a_program(python, code):
    result = python(code, timeout=0.3)
    assert result.error == "execution failed: timed out after 0.3 s"
    assert python("print('next')").stdout == "next\n"


def test_l23_a_blocking_sleep_rebuilt_from_the_interpreter_is_killed_from_outside(python):
    code = """
import _imp
class Spec: name = "time"; origin = "built-in"; parent = ""
_imp.create_builtin(Spec).sleep(60)
"""
    assert python(code, timeout=0.2).error == "execution failed: timed out after 0.2 s"
    assert python("print('next')").stdout == "next\n"


def test_la19_what_was_printed_before_the_time_was_up_is_kept(python):
    result = python("print('one'); print('two')\nwhile True: pass", timeout=1)
    assert result.stdout == "one\ntwo\n"
    assert result.stderr == "stopped by the sandbox: timed out after 1 s\n"


def test_la19_sleeping_within_the_time_really_sleeps(python):
    code = "import time; a = time.monotonic(); time.sleep(0.15); print(time.monotonic() - a >= 0.15)"
    assert python(code).stdout == "True\n"


@pytest.mark.parametrize(
    "code",
    [
        "x = bytearray(10**9)",
        "x = []\nwhile True: x.append(bytearray(10**6))",
        "x = 'y' * 10**7\nwhile True: x += x",
        "x = {}\nfor i in range(10**9): x[i] = [i]",
    ],
)
def test_l23_lw10_memory_ends_a_program(python, code):
    result = python(code, memory=64 * MB)
    assert result.error == "execution failed: MemoryError (limit 64 MB)"
    assert "MemoryError" in result.stderr


def test_la19_memory_is_configurable_both_ways(python):
    code = "x = bytearray(90 * 2**20); print(len(x))"
    assert python(code, memory=200 * MB).stdout == f"{90 * MB}\n"
    assert python(code, memory=80 * MB).error == "execution failed: MemoryError (limit 80 MB)"


def test_la19_a_program_can_catch_its_memory_error(python):
    assert python("try: bytearray(10**9)\nexcept MemoryError: print('caught')").stdout == "caught\n"


def test_la19_too_little_memory_for_the_interpreter_is_said_plainly(python):
    with pytest.raises(
        SandboxError, match="16 MB of memory is too little for the Python sandbox: it needs 40 MB"
    ) as told:
        python("print(1)", memory=16 * MB)
    assert told.value.hint == "set memory to 40 MB or more"
    assert python("print(1)", memory=40 * MB).stdout == "1\n"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        ("import sys; sys.setrecursionlimit(10**7)\ndef f(): f()\nf()", "RecursionError: the interpreter's stack"),
        ("import json; json.loads('[' * 10**6)", "RecursionError: the interpreter's stack"),
        ("class A:\n  def __del__(self): A()\nA()", "RecursionError: the interpreter's stack"),
        ("eval('(' * 10**5 + ')' * 10**5)", "MemoryError: Parser stack overflowed"),
    ],
)
def test_l23_recursion_ends_a_program_and_nothing_else(python, code, reason):
    assert python(code).error.startswith(f"execution failed: {reason}")
    assert python("print('next')").stdout == "next\n"


@pytest.mark.parametrize(
    "code",
    [
        "print('x' * 2_000_000)",
        "for i in range(300): print('x' * 10**6)",
        "import sys\nwhile True: sys.stderr.write('y' * 1000)",
        "import wit_world\nwhile True: wit_world.emit(77, '\u4e2d' * 100_000)",
        "while True: print('z' * 1000)",
    ],
)
def test_l23_output_is_cut_at_one_mebibyte(python, code):
    result = python(code)
    assert result.error == "execution failed: output limit of 1 MB reached"
    printed = len((result.stdout + result.stderr).encode())
    assert MB - 4 <= printed - len("stopped by the sandbox: output limit of 1 MB reached\n") <= MB


def test_l23_output_up_to_the_limit_arrives_whole(python):
    result = python(f"import sys; sys.stdout.write('x' * {MB})")
    assert (len(result.stdout), result.error) == (MB, None)


WRITE = "  for i in range({}): f.write(b'x' * 10**6)"
BIG = "for j in range(50):\n  f = open(f'f{j}', 'wb')\n" + WRITE.format(60)
UNLINKED = (
    "import os; kept = []\nfor j in range(50):\n  f = open('f', 'wb'); os.unlink('f'); kept.append(f)\n"
    + WRITE.format(60)
)
FAILED_WRITE = "OSError: [Errno 29] I/O error"

QUOTA = {
    "one big file": ("with open('f', 'wb') as f:\n" + WRITE.format(300), FAILED_WRITE),
    "a sparse file": ("f = open('f', 'wb'); f.seek(10**13); f.write(b'x'); f.flush()", FAILED_WRITE),
    "a truncated file": ("open('f', 'wb').truncate(10**12)", "OSError: [Errno 22] File too large"),
    "several big files": (BIG, "temporary folder limit of 128 MB reached"),
    "unlinked files": (UNLINKED, "temporary folder limit of 128 MB reached"),
    "many files": ("for i in range(10**6): open(f'f{i}', 'w').close()", "temporary folder limit of 10000 files"),
    "open files": ("kept = [open(f'f{i}', 'w') for i in range(1000)]", f"{FAILED_WRITE}: 'f"),
}


@pytest.mark.parametrize(("code", "reason"), QUOTA.values(), ids=QUOTA)
def test_l23_the_temporary_folder_has_a_quota(python, code, reason):
    assert python(code).error.startswith(f"execution failed: {reason}")
    assert python("import os; print(os.listdir())").stdout == "[]\n"

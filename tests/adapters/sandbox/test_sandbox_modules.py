"""Which modules there are, what a missing one says, and that docs/sandbox.md tells the truth about both (L22, LA18)."""

from __future__ import annotations

import re

import pytest

from tests.adapters.sandbox.conftest import ROOT

DOCS = (ROOT / "docs" / "sandbox.md").read_text("utf-8")

ZONES = "from zoneinfo import ZoneInfo\nfrom datetime import datetime\n"

TASKS = """
import asyncio
async def five(): await asyncio.sleep(0.01); return 5
async def main():
    async with asyncio.TaskGroup() as group:
        a = group.create_task(five())
        b = group.create_task(asyncio.to_thread(len, "ab"))
    print(a.result(), b.result())
asyncio.run(main())
"""

DEADLINE = """
import asyncio
async def main():
    try: await asyncio.wait_for(asyncio.Event().wait(), 0.01)
    except TimeoutError: print("late")
asyncio.run(main())
"""

UNITTEST = """
import unittest
class Sums(unittest.TestCase):
    def test(self): self.assertEqual(1 + 1, 2)
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Sums)
print(unittest.TextTestRunner(stream=open("log", "w")).run(suite).testsRun)
"""

ZIP = """
import zipfile
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as file: file.writestr("n", "text")
print(zipfile.ZipFile("a.zip").read("n"))
"""

FOLDERS = """
import tempfile, pathlib, shutil
path = pathlib.Path(tempfile.mkdtemp())
(path / "a").write_text("x")
shutil.rmtree(path)
print(path.exists())
"""

WORKS = [
    ("import statistics; print(statistics.median([3, 1, 2]))", "2"),
    ("import sqlite3; print(sqlite3.connect('a.db').execute('select 1 + 1').fetchone())", "(2,)"),
    ("import hashlib as h; print(h.sha256(b'').hexdigest()[:8], h.md5(b'').hexdigest()[:4])", "e3b0c442 d41d"),
    ("import zlib; print(zlib.decompress(zlib.compress(b'a')))", "b'a'"),
    ("import gzip; print(gzip.decompress(gzip.compress(b'a')))", "b'a'"),
    ("from decimal import Decimal; print(Decimal('0.1') * 3)", "0.3"),
    ("from fractions import Fraction; print(Fraction(1, 3) + 1)", "4/3"),
    ("import csv, io; print(list(csv.reader(io.StringIO('a,\"b,c\"'))))", "[['a', 'b,c']]"),
    ("import xml.etree.ElementTree as E; print(E.fromstring('<a><b/></a>')[0].tag)", "b"),
    ("import email; print(email.message_from_string('Subject: hi\\n\\nbody')['subject'])", "hi"),
    ("import re, json, math; print(math.comb(5, 2), json.dumps({'a': re.findall('.', 'bc')}))", '10 {"a": ["b", "c"]}'),
    (ZONES + "print(datetime(2026, 7, 1, tzinfo=ZoneInfo('Asia/Kathmandu')))", "2026-07-01 00:00:00+05:45"),
    (ZONES + "print(datetime(2026, 1, 15, tzinfo=ZoneInfo('Europe/Zurich')).tzname())", "CET"),
    (TASKS, "5 2"),
    (DEADLINE, "late"),
    (UNITTEST, "1"),
    (ZIP, "b'text'"),
    (FOLDERS, "False"),
    ("from dataclasses import dataclass\n@dataclass\nclass A: x: int\nprint(A(1))", "A(x=1)"),
    ("from typing import Literal, get_args; print(get_args(Literal['a', 'b']))", "('a', 'b')"),
    (
        "import logging; logging.basicConfig(filename='l'); logging.error('e'); print(open('l').read())",
        "ERROR:root:e\n",
    ),
    ("import codecs; print(codecs.encode('abc', 'rot13'), b'\\x93\\xfa'.decode('shift_jis'))", "nop \u65e5"),
    ("import pickle, copy; print(pickle.loads(pickle.dumps({1: copy.copy([2])})))", "{1: [2]}"),
]


@pytest.mark.parametrize(("code", "stdout"), WORKS)
def test_l22_the_standard_library_works(python, code, stdout):
    result = python(code)
    assert (result.stdout, result.stderr, result.error) == (f"{stdout}\n", "", None)


@pytest.mark.parametrize("name", ["numpy", "pandas", "requests", "yaml.cyaml"])
def test_la18_a_missing_package_names_the_sandbox(python, name):
    result = python(f"import {name}")
    top = name.partition(".")[0]
    said = f"No module named {top!r}: the Prosa sandbox has only the Python standard library"
    assert result.error == f"execution failed: ModuleNotFoundError: {said}"
    assert python(f"try: import {name}\nexcept ImportError as e: print(e.name)").stdout == f"{top}\n"


@pytest.mark.parametrize("name", ["bz2", "lzma", "ssl", "ctypes", "mmap", "tkinter", "turtle"])
def test_la18_a_missing_standard_module_names_the_sandbox(python, name):
    said = f"No module named {name!r}: this standard module is not available in the Prosa sandbox"
    assert python(f"import {name}").error == f"execution failed: ModuleNotFoundError: {said}"


def test_la18_a_thread_names_the_sandbox(python):
    error = python("import threading; threading.Thread(target=print).start()").error
    assert error == (
        "execution failed: RuntimeError: can't start new thread: threads are not available in the Prosa sandbox"
    )


def test_every_time_zone_is_there(python):
    code = "import zoneinfo; n = zoneinfo.available_timezones(); print(len(n), all(zoneinfo.ZoneInfo(k) for k in n))"
    count, whole = python(code).stdout.split()
    assert int(count) > 590
    assert whole == "True"
    assert python("import zoneinfo; zoneinfo.ZoneInfo('Mars/Olympus')").error.endswith(
        "No time zone found with key Mars/Olympus'"
    )


def _listed(heading: str) -> set[str]:
    section = DOCS.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"`([\w.]+)`", section.partition("\n\n")[2]))


def test_l22_the_documented_modules_are_the_real_ones(python):
    code = """
import sys, importlib
present, missing = [], []
for name in sorted(sys.stdlib_module_names):
    if name.startswith("_"): continue
    try: importlib.import_module(name)
    except ImportError: missing.append(name)
    else: present.append(name)
print(*present); print(*missing)
"""
    present, missing = (set(line.split()) for line in python(code).stdout.splitlines())
    assert _listed("Available modules") == present
    assert _listed("Missing modules") == missing


@pytest.mark.parametrize(
    ("words", "code", "stdout"),
    [
        ("CPython 3.14", "import sys; print(sys.version_info[:2])", "(3, 14)"),
        ("`/tmp`", "import os; print(os.getcwd())", "/tmp"),
    ],
)
def test_the_documented_facts_hold(python, words, code, stdout):
    assert words in DOCS
    assert python(code).stdout == f"{stdout}\n"


def test_la19_the_documented_limits_are_the_real_ones():
    from prosa.adapters.sandbox import limits

    for size in (limits.MAX_OUTPUT, limits.MIN_MEMORY, limits.MAX_TEMP_BYTES, limits.MAX_TEMP_FILE, limits.MAX_CODE):
        assert f"| {limits.megabytes(size)} |" in DOCS
    assert f"| {limits.MAX_TEMP_ENTRIES} |" in DOCS

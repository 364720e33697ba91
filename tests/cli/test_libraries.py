"""Libraries that a command imports without some of their modules: everything in them works, and no stand-in stays."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FIRST = """
import json, sys, typing
from prosa.cli.libraries import Later, load_libraries
reference = typing.ForwardRef
load_libraries()
late = ["gettext", "locale", "platform", "urllib.parse", "ipaddress", "textwrap", "msgspec.inspect", "ast", "inspect"]
loaded = [name for name in late if name in sys.modules]
standing = [name for name, module in sys.modules.items() if isinstance(module, Later)]
import argparse, gettext, msgspec, msgspec.inspect, msgspec.json, pathlib, platform, urllib.parse, uuid
"""

USES = {
    "typing.ForwardRef is reference": True,
    "[each for each in (gettext, platform, urllib.parse, msgspec.inspect) if isinstance(each, Later)]": [],
    "pathlib.Path('/a b').as_uri()": "file:///a%20b",
    "pathlib.PureWindowsPath('C:/a b').as_uri()": "file:///C:/a%20b",
    "uuid.uuid1().version": 1,
    "uuid.UUID(int=1) == msgspec.convert(str(uuid.UUID(int=1)), uuid.UUID)": True,
    "msgspec.json.schema(int)": {"type": "integer"},
    "list(msgspec.json.schema_components([int])[0])": [{"type": "integer"}],
    "type(msgspec.inspect.type_info(int)).__name__": "IntType",
    "uuid._platform_system == platform.system() if hasattr(uuid, '_platform_system') else True": True,
    "argparse.ArgumentParser(prog='a', usage='b').format_usage()": "usage: b\n",
    "argparse.ngettext('one', 'many', 2) + argparse._('some')": "manysome",
}
"""An expression for each library and each stand-in, with what it gives."""


def answered(code: str) -> object:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers() -> object:
    return answered(f"{FIRST}\nprint(json.dumps([loaded, standing, [{', '.join(USES)}]]))")


def test_what_hardly_a_command_uses_is_not_loaded_and_nothing_stands_for_it(answers: list[object]):
    assert answers[:2] == [[], []]


def test_what_is_used_of_it_works(answers: list[object]):
    assert answers[2] == list(USES.values())


def test_a_module_that_is_loaded_already_keeps_its_place():
    code = "import gettext, argparse, json; from prosa.cli.libraries import load_libraries; load_libraries(); "
    assert answered(code + "print(json.dumps(argparse._ is gettext.gettext))") is True

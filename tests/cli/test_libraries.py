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

RUN = """
import json, sys
from prosa.cli.libraries import Later, load_libraries, load_run_libraries
load_libraries()
load_run_libraries()
late = ["ssl", "logging", "inspect", "subprocess", "traceback", "asyncio.sslproto", "email.charset", "ipaddress"]
late += ["signal"] + ["socket"] * (sys.platform != "win32")
loaded = [name for name in late if name in sys.modules]
standing = [name for name, module in sys.modules.items() if isinstance(module, Later)]
import asyncio
asyncio.run(asyncio.sleep(0))
loaded += [name for name in late if name in sys.modules]
import signal, urllib.parse
from concurrent.futures import Future
from jsonschema_rs import Draft202012Validator

async def handled():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, failing, None)
    quiet = "inspect" not in sys.modules
    try:
        loop.add_signal_handler(signal.SIGINT, handled)
    except TypeError as error:
        return quiet, str(error)

async def forgotten():
    asyncio.get_running_loop().create_future().set_exception(ValueError("forgotten"))

async def child():
    return await (await asyncio.create_subprocess_exec(sys.executable, "-c", "exit(3)")).wait()

async def connected():
    async def answer(reader, writer):
        writer.write(await reader.readexactly(1))
        writer.close()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    family, address = server.sockets[0].family, server.sockets[0].getsockname()
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"a")
    sent = await reader.read()
    writer.close()
    server.close()
    return sent.decode(), family.name, type(asyncio.selector_events.socket).__name__

async def piped():
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(input())", **pipes)
    return (await child.communicate(b"a"))[0].decode().strip()

async def waited():
    task = asyncio.ensure_future(asyncio.sleep(0, 4))
    done, _ = await asyncio.wait([task], return_when=asyncio.FIRST_COMPLETED)
    return done == {task}

def failing(future):
    raise ValueError("in a callback")

def called_back():
    future = Future()
    future.add_done_callback(failing)
    future.set_result(None)
"""

RUN_USES = {
    "asyncio.run(handled())": [True, "coroutines cannot be used with add_signal_handler()"],
    "asyncio.run(forgotten())": None,
    "called_back()": None,
    "asyncio.run(child())": 3,
    "asyncio.run(connected())": ["a", "AF_INET", "Later"],
    "asyncio.run(piped())": "a",
    "asyncio.run(waited())": True,
    "asyncio.run(asyncio.to_thread(int, '5'))": 5,
    "asyncio.run(asyncio.sleep(0, 6), debug=True)": 6,
    "asyncio.log.logger.debug('%s', 1, exc_info=True)": None,
    "asyncio.log.logger.addHandler(__import__('logging').NullHandler())": None,
    "[type(each).__name__ for each in __import__('logging').getLogger('asyncio').handlers]": ["NullHandler"],
    "asyncio.base_events.ssl.SSLContext is __import__('ssl').SSLContext": True,
    "asyncio.sslproto.SSLProtocol.__name__": "SSLProtocol",
    "Draft202012Validator({'type': 'string'}).is_valid('text')": True,
    "urllib.parse.urlsplit('http://[::1]:80/').hostname": "::1",
    "str(__import__('email.utils').utils.parsedate_to_datetime('Tue, 27 Oct 2026 10:17:51 +0000'))": (
        "2026-10-27 10:17:51+00:00"
    ),
}


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


def test_what_a_run_loads_works_too_and_reports_its_failures():
    code = f"{RUN}\nprint(json.dumps([loaded, standing, [{', '.join(RUN_USES)}]]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], [], list(RUN_USES.values())]
    assert "exception was never retrieved" in done.stderr and "ValueError: forgotten" in done.stderr
    assert "exception calling callback" in done.stderr and "ValueError: in a callback" in done.stderr


PROTOCOL = """
import json, sys
from prosa.cli.libraries import load_protocol
load_protocol()
import attrs
from lsprotocol import types
from lsprotocol.converters import get_converter
converter = get_converter()
one, other = (types.Range(types.Position(0, 1), types.Position(at, 2)) for at in (1, 2))
told = {"range": converter.unstructure(one), "message": "x", "tags": [1]}
read = converter.structure(told, types.Diagnostic)
def refused(make, *given):
    try:
        make(*given)
    except Exception as error:
        return type(error).__name__
"""

PROTOCOL_USES = {
    "attrs is sys.modules['attr'] or attrs.define is sys.modules['attr'].define": True,
    "[hasattr(each, '__slots__') for each in (types.Range, attrs.define(type('A', (), {})))]": [False, True],
    "[one == one, one == other, one == types.Range(one.start, one.end), one != other, one == one.start]": (
        [True, False, True, True, False]
    ),
    "[types.Position(0, 1) < types.Position(1, 0), types.Position(0, 1) == types.Position(0, 1)]": [True, True],
    "[refused(hash, each) for each in (one, one.start)]": ["TypeError", "TypeError"],
    "[repr(one), repr(types.TextEdit(one, 'x'))]": ["0:1-1:2", "TextEdit(range=0:1-1:2, new_text='x')"],
    "converter.unstructure(read)": {
        "range": {"start": {"line": 0, "character": 1}, "end": {"line": 1, "character": 2}},
        "message": "x",
        "tags": [1],
    },
    "[refused(types.Position, 0), refused(types.Position, -1, 0)]": ["TypeError", "ValueError"],
    "load_protocol()": None,
}
"""What the types of the protocol do, as those that `attrs` makes with all it has do it."""


@pytest.mark.parametrize("start", [PROTOCOL, PROTOCOL.replace("load_protocol()\n", "", 1)])
def test_the_types_of_the_protocol_are_the_same_in_less_time(start: str):
    found = answered(f"{start}\nprint(json.dumps([{', '.join(PROTOCOL_USES)}]))")
    assert isinstance(found, list)
    expected = [*PROTOCOL_USES.values()]
    expected[1] = [start is not PROTOCOL, True]
    assert found == expected


DURING = """
import json, sys
from functools import partial
from prosa.cli import libraries
from prosa.cli.libraries import Later, _calling, _is_coroutine_function, _standing_in

async def waits(): ...
def returns(): ...

known = {"getLogger": libraries._Logger, "StreamHandler": lambda: None}
standing = {"inspect": Later("inspect", {"iscoroutinefunction": _is_coroutine_function})}
standing |= {"logging": Later("logging", known), "traceback": _calling("traceback", "extract_stack")}
with _standing_in(**standing):
    import inspect, logging, traceback
    logger = logging.getLogger("prosa.test")
    logger.debug("not heard")
    found = [inspect.iscoroutinefunction(each) for each in (waits, returns)]
    quiet = not libraries._is_loaded("inspect")
    found += [inspect.iscoroutinefunction(each) for each in (len, partial(waits))]
    found += [len(traceback.extract_stack()) > 0, logger.isEnabledFor(50)]
print(json.dumps([quiet, *found]))
"""


def test_a_stand_in_that_is_called_during_the_imports_asks_the_module_itself():
    assert answered(DURING) == [True, True, False, False, True, True, True]


def test_a_language_server_loads_no_openssl():
    code = (
        "import json, sys; from prosa.cli.libraries import load_event_loop, load_libraries, load_protocol; "
        "load_libraries(); load_event_loop(); load_protocol(); import prosa.lsp.server; "
        "late = ['ssl', 'hashlib', 'statistics']; "
        "loaded = [each for each in late if each in sys.modules]; import asyncio; "
        "print(json.dumps([loaded, asyncio.base_events.ssl.SSLContext is __import__('ssl').SSLContext]))"
    )
    assert answered(code) == [[], True]

"""Imports of libraries for a command, without the modules that they import at their heads and a command hardly uses.

In: this process, before it has threads. Out: libraries as always, which hold stand-ins for some modules. A stand-in
loads its module at the first use of what it does not know, so an unexpected version of a library costs time and nothing
else. None stays in `sys.modules`: other code imports the modules themselves.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, cast

from prosa.cli.process import signals
from prosa.regex import import_uncompiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prosa.data import Value


_COROUTINE = 0x80
"""`CO_COROUTINE` of `inspect`."""


class Later(ModuleType):
    """Stands for a module until something is used of it that is not ``known``."""

    def __init__(self, name: str, known: Mapping[str, object]) -> None:
        super().__init__(name)
        vars(self).update(known)

    def __getattr__(self, name: str) -> object:
        """Return what the module itself has. No stand-in is a package, as every import asks."""
        if name == "__path__":
            raise AttributeError(name)
        return getattr(_itself(self.__name__), name)


def _is_loaded(name: str) -> bool:
    """Return whether a module is loaded, and not a stand-in for it."""
    module = sys.modules.get(name)
    return module is not None and not isinstance(module, Later)


def _itself(name: str) -> ModuleType:
    """Return a module itself, whose place a stand-in may have while libraries are imported."""
    if not _is_loaded(name):
        sys.modules.pop(name, None)
    return import_module(name)


def load_libraries() -> None:
    """Import what every command needs: `argparse`, `msgspec` and `pathlib`."""
    # The messages of argparse are English here; `gettext` would look for a translation of each in the file system.
    translation = {"gettext": lambda message: message, "ngettext": lambda one, many, n: one if n == 1 else many}
    with _standing_in(gettext=Later("gettext", translation)):
        import argparse  # noqa: F401 - for every module that imports it after this
    # `ntpath` looks for each function of Windows anew.
    windows = {} if sys.platform == "win32" else dict.fromkeys(("nt", "_winapi"))
    with _standing_in(**{"urllib.parse": _calling("urllib.parse", "quote_from_bytes")}, **windows):
        import pathlib  # noqa: F401
    _load_values()


def _load_values() -> None:
    """Import `msgspec`. It needs three names of `typing_extensions`, which `typing` has too, and takes them from there
    where that is not installed. The annotation that it makes to try a keyword compiles the first code of the process,
    which costs a tenth of a check."""
    import typing

    schemas = _calling("msgspec._json_schema", "schema", "schema_components")
    others = {"msgspec._json_schema": schemas, "msgspec.inspect": Later("msgspec.inspect", {})}
    reference = typing.ForwardRef
    vars(typing)["ForwardRef"] = lambda *_, **__: None
    try:
        with _standing_in(typing_extensions=None, platform=_platform(), **others):
            import msgspec  # noqa: F401
    finally:
        vars(typing)["ForwardRef"] = reference


def load_event_loop() -> None:
    """Import `asyncio` without TLS, for a process that lasts and opens no connection: OpenSSL takes megabytes of it."""
    with _standing_in(**{name: Later(name, {}) for name in ("asyncio.sslproto", "ssl")}):
        import asyncio  # noqa: F401


def load_protocol() -> None:
    """Import the types of the protocol of editors, of which a session uses a few of five hundred: `attrs` compiles for
    each of them how it is compared and shown, and makes each of them twice, for its slots. Both took most of a start of
    the language server, and four megabytes. Here all share one function, and attributes are in a `__dict__`."""
    if "lsprotocol.types" in sys.modules:
        return
    import attrs

    plain = ModuleType(attrs.__name__)
    vars(plain).update(vars(attrs), define=partial(_plainly_defined, attrs.define))
    sys.modules[attrs.__name__] = plain
    try:
        import lsprotocol.types  # noqa: F401
    finally:
        sys.modules[attrs.__name__] = attrs


def _plainly_defined(define: Callable[..., type], made: type | None = None, **options: Value) -> type:
    """Do what ``define`` of `attrs` does, for a class without options in less time: it may compare or show itself."""
    if made is None or options:
        return define(made, **options)
    own = vars(made)
    defined = define(made, slots=False, eq=False, repr=False)
    methods = [] if "__repr__" in own else ["__repr__"]
    if "__eq__" not in own:
        methods += ["__eq__"] if "__hash__" in own else ["__eq__", "__hash__"]
    for name in methods:
        setattr(defined, name, vars(_Plain)[name])
    return defined


class _Plain:
    """How a class is compared and shown that `attrs` gives no functions of its own."""

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # what can change has no hash

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={var!r}" for name, var in vars(self).items())
        return f"{type(self).__qualname__}({values})"


def load_run_libraries() -> None:
    """Import what a run needs besides: `asyncio` without what only servers, processes, debugging and failures of the
    loop need, and without the enumerations of `signal` and `socket`; `jsonschema_rs`, which asks `email.utils` to read
    the time when it was built (that stays a text), and what reads URLs, few of which have an IP address; and `json`,
    whose expressions serve its slower half in Python."""
    import_uncompiled("json")
    late: dict[str, Mapping[str, object]] = {
        "asyncio.sslproto": {},
        "email.utils": {"parsedate_to_datetime": str},
        "inspect": {"iscoroutinefunction": _is_coroutine_function},
        "ipaddress": {},
        "linecache": {},
        "logging": {"DEBUG": 10, "getLogger": _Logger, "StreamHandler": lambda: None},
        "signal": {name: value for name, value in vars(signals).items() if not name.startswith("__")},
        "ssl": {},
        "subprocess": {"PIPE": -1, "STDOUT": -2, "DEVNULL": -3},
        "traceback": {"extract_stack": partial(_called, "traceback", "extract_stack")},
    }
    if sys.platform != "win32":  # where asyncio asks for the class of a socket
        late["socket"] = _sockets()
    with _standing_in(**{name: Later(name, known) for name, known in late.items()}):
        import asyncio  # noqa: F401
        import urllib.parse  # noqa: F401

        import jsonschema_rs  # noqa: F401


def _is_coroutine_function(function: Callable[..., Value]) -> bool:
    """Return what `inspect` says, which is not loaded for a plain function: that of no other is marked as one."""
    if isinstance(function, FunctionType) and not _is_loaded("inspect"):
        return bool(function.__code__.co_flags & _COROUTINE)
    return bool(_itself("inspect").iscoroutinefunction(function))


def _sockets() -> Mapping[str, object]:
    """Return what the loop needs of `socket`, which makes enumerations of all its numbers: the numbers themselves, and
    a pair of sockets that wakes the loop. A function that opens a connection is that of the module."""
    import _socket

    numbers = {name: value for name, value in vars(_socket).items() if isinstance(value, int)}
    return {**numbers, "socketpair": _socket.socketpair, "socket": partial(_called, "socket", "socket")}


class _Logger:
    """Stands for a logger. Before `logging` is loaded nothing can have asked for messages of debugging; the handler
    that `concurrent.futures` adds, one that writes to stderr, is made with the first message."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.writes = False

    def debug(self, message: str, *values: Value, **named: Value) -> None:
        """Log a message if something asks for it."""
        if _is_loaded("logging"):
            self.__getattr__("debug")(message, *values, **named)

    def addHandler(self, handler: object | None) -> None:  # noqa: N802 - a method of loggers
        """Add a handler; None is the one that writes to stderr."""
        if handler is None:
            self.writes = True
        else:
            self.__getattr__("addHandler")(handler)

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Return what the logger itself has."""
        logging = _itself("logging")
        logger = logging.getLogger(self.name)
        if self.writes:
            self.writes = False
            logger.addHandler(logging.StreamHandler())
        method: Callable[..., None] = getattr(logger, name)
        return method


def _platform() -> Later:
    """Return what stands for `platform`, of which `uuid` asks the name of the system."""

    def system() -> str:
        from os import uname

        return uname().sysname

    return Later("platform", {"system": system})


def _calling(module: str, *names: str) -> Later:
    """Return what stands for a module of which only functions are imported: they call those of the module."""
    return Later(module, {name: partial(_called, module, name) for name in names})


def _called(module: str, name: str, *arguments: Value, **named: Value) -> Value:
    result: Value = getattr(_itself(module), name)(*arguments, **named)
    return result


@contextmanager
def _standing_in(**modules: ModuleType | None) -> Iterator[None]:
    """Have imports find other modules in place of those that are not loaded yet; None is one that is not installed."""
    ours = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(cast("dict[str, ModuleType]", ours))
    try:
        yield
    finally:
        for name, module in ours.items():
            if sys.modules.get(name, ours) is not module:
                continue  # it was needed after all
            del sys.modules[name]
            package, _, child = name.rpartition(".")
            if package in sys.modules:  # has the module as an attribute, as after every import
                vars(sys.modules[package]).setdefault(child, module)

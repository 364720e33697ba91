"""Every value is a `msgspec.Struct`: shown, compared, replaced and pickled by its fields (docs/python.md, Values)."""

from __future__ import annotations

import ast
import importlib
import pickle
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from msgspec import Struct
from msgspec.structs import asdict, replace

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.result_store import ResultStore
from prosa.app.options import Options, SiteRights
from prosa.corpus.errors import UnknownDocument
from prosa.runtime.errors import ProviderError
from prosa.schema import SchemaError
from prosa.source import FileProblem, ProsaError, SourceText, Span
from prosa.source.values import PartlyCompared, PartlyShown
from prosa.template import TemplateError
from tests.house.tree import PACKAGE, modules, named, statements


def structs(above: type[Struct] = Struct) -> Iterator[type[Struct]]:
    """Every class of values of the package."""
    for each in above.__subclasses__():
        if each.__module__.startswith("prosa."):
            yield each
        yield from structs(each)


@cache
def every() -> list[type[Struct]]:
    for file in modules():
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[-1] != "__main__":
            importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return sorted(set(structs()), key=lambda each: (each.__module__, each.__qualname__))


def plain() -> list[type[Struct]]:
    """All but those that look at their fields when they are made, or pickle some of them: these have tests of their
    own."""
    return [each for each in every() if not hasattr(each, "__post_init__") and "__reduce__" not in vars(each)]


def made(of: type[Struct], /, **own: object) -> Struct:
    """A value with the names of its fields in them."""
    values = {name: name for name in of.__struct_fields__} | own
    positional = [values.pop(name) for name in of.__match_args__]
    return of(*positional, **values)


def is_compared(of: type[Struct]) -> bool:
    return of.__struct_config__.eq


def test_no_dataclass_is_defined():
    """A dataclass costs forty times as much to define, and its module loads `inspect`."""
    named_so = {"dataclasses"}
    found = [
        f"{named(module)}:{node.lineno}"
        for module in modules()
        for node in statements(module)
        if (isinstance(node, ast.ImportFrom) and node.module in named_so)
        or (isinstance(node, ast.Import) and named_so & {each.name for each in node.names})
    ]
    assert found == []


def test_there_are_values():
    assert len(every()) > 500
    assert len(plain()) > len(every()) - 20


def for_every_value(check: Callable[[type[Struct]], None]) -> None:
    """Fail with the names of all values for which the check fails, not with the first one alone."""
    failed: dict[str, str] = {}
    for of in plain():
        try:
            check(of)
        except (AssertionError, pytest.fail.Exception) as error:
            failed[f"{of.__module__}.{of.__qualname__}"] = str(error)
    assert failed == {}


class TestEveryValue:
    def test_is_shown_by_its_fields(self):
        for_every_value(self.is_shown)

    def test_is_compared_by_its_fields(self):
        for_every_value(self.is_compared)

    def test_is_pickled_copied_and_replaced(self):
        for_every_value(self.is_pickled)

    def test_is_changed_only_where_it_is_meant_to_be(self):
        for_every_value(self.is_changed)

    @staticmethod
    def is_shown(of: type[Struct]) -> None:
        unshown = of.unshown if issubclass(of, PartlyShown) else frozenset()
        shown = ", ".join(f"{name}='{name}'" for name in of.__struct_fields__ if name not in unshown)
        assert repr(made(of)) == f"{of.__qualname__}({shown})"

    @staticmethod
    def is_compared(of: type[Struct]) -> None:
        left, right = made(of), made(of)
        assert (left == right) is is_compared(of) and (left != right) is not is_compared(of)
        assert left in (left,) and left not in ("other",) and left != "other"
        if of.__struct_config__.frozen:
            assert (hash(left) == hash(right)) is is_compared(of)
        uncompared = of.uncompared if issubclass(of, PartlyCompared) else frozenset()
        for name in of.__struct_fields__:
            other = made(of, **{name: "else"})
            assert (left == other) is (name in uncompared and is_compared(of))
            assert (left != other) is not (left == other)

    @staticmethod
    def is_pickled(of: type[Struct]) -> None:
        value = made(of)
        again = cast("Struct", pickle.loads(pickle.dumps(value)))
        for each in (again, copy(value), deepcopy(value), replace(value)):
            assert type(each) is of and asdict(each) == asdict(value)
        for name in of.__struct_fields__:
            assert getattr(replace(value, **{name: "else"}), name) == "else"

    @staticmethod
    def is_changed(of: type[Struct]) -> None:
        value = made(of)
        for name in of.__struct_fields__:
            if of.__struct_config__.frozen:
                with pytest.raises(AttributeError):
                    setattr(value, name, "else")
            else:
                setattr(value, name, "else")
                assert getattr(value, name) == "else"
        if of.__struct_config__.frozen or not of.__struct_config__.dict:
            with pytest.raises(AttributeError):
                setattr(value, "no-field", 1)


def test_a_span_is_a_pair_in_order():
    assert pickle.loads(pickle.dumps(Span(1, 2))) == Span(1, 2) == replace(Span(0, 2), start=1)
    assert sorted([Span(2, 3), Span(1, 4), Span(1, 2)]) == [Span(1, 2), Span(1, 4), Span(2, 3)]
    assert repr(Span(1, 2)) == "Span(start=1, end=2)" and hash(Span(1, 2)) == hash(Span(1, 2))
    for start, end in ((2, 1), (-1, 0)):
        with pytest.raises(ValueError, match="a span needs"):
            Span(start, end)
    with pytest.raises(ValueError, match="a span needs"):
        replace(Span(1, 2), end=0)


def test_x7_rights_are_looked_at_when_they_are_made():
    rights = SiteRights(named=("https://a.example",), actions=("POST /book",))
    assert pickle.loads(pickle.dumps(rights)) == rights == replace(rights)
    with pytest.raises(ValueError, match="/book"):
        SiteRights(actions=("BREW /book",))


def test_x5_rooted_files_are_the_same_elsewhere(tmp_path: Path):
    (tmp_path / "a.md").write_text("# A\n")
    files = RootedFiles(tmp_path, 100, (tmp_path / "a.md",))
    files.read(tmp_path / "a.md")
    again = pickle.loads(pickle.dumps(files))
    assert again == files and hash(again) == hash(files) and not again != files  # noqa: SIM202 - both are asked
    assert repr(files) == f"RootedFiles(root={tmp_path!r}, max_size=100, named=({tmp_path / 'a.md'!r},), hashes=True)"
    assert files != RootedFiles(tmp_path, 101) and again.read(tmp_path / "a.md").text == "# A\n"


def test_a_store_opens_its_file_for_itself(tmp_path: Path):
    store = ResultStore(tmp_path, "1", 5)
    store.put({"k" * 64: "v"})
    again = pickle.loads(pickle.dumps(store))
    assert (again.folder, again.version, again.day) == (tmp_path, "1", 5)
    assert again.get(["k" * 64]) == store.get(["k" * 64])


def test_x7_no_secret_is_shown():
    assert "sk-1" not in repr(Options(api_key="sk-1"))


def test_a_text_is_the_same_wherever_it_was_read():
    text = SourceText("A", "a.md", "digest")
    assert text.lines is text.lines and text == SourceText("A", "a.md") != SourceText("B", "a.md")
    again = pickle.loads(pickle.dumps(text))
    assert (again, again.digest, again.lines.text) == (text, "digest", "A")


def errors(above: type[ProsaError] = ProsaError) -> Iterator[type[ProsaError]]:
    """Every class of errors of the package."""
    yield above
    for each in above.__subclasses__():
        yield from errors(each)


def test_every_error_crosses_to_another_process():
    """An error that cannot be read back breaks the pool of processes that it was raised in."""
    every()
    for kind in set(errors()):
        error = kind.__new__(kind, "no such file")
        vars(error).update(hint="make it", place=Span(2, 9))
        for again in (pickle.loads(pickle.dumps(error)), copy(error)):
            assert type(again) is kind and str(again) == "no such file" and vars(again) == vars(error)


def test_an_error_of_the_public_interface_is_pickled_whole():
    raised = [
        FileProblem(Path("a.md"), "missing", "no such file"),
        ProviderError("no answer", kind="network", retryable=True, hint="wait"),
        UnknownDocument("night", ["on-call.md"]),
        TemplateError("unended", text="{{ if }}", offset=3),
        SchemaError("/type", "is not a type"),
    ]
    for error in raised:
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.hint, vars(again)) == (str(error), error.hint, vars(error))

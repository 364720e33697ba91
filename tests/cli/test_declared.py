"""Options as records. Python 3.14 makes the annotations of a class when they are asked for, so they stand no longer in
its `vars`."""

from __future__ import annotations

import pytest

from prosa.app.options import Annotated, Option, TypedDict, declared


class Late(type):
    """What a class of Python 3.14 looks like: annotations to ask for, and none in its `vars`."""

    @property
    def __annotations__(cls) -> dict[str, object]:
        return vars(cls).get("kept", {"depth": Annotated[int, Option("how deep")]})

    @__annotations__.setter
    def __annotations__(cls, found: dict[str, object]) -> None:
        cls.kept = found


@pytest.mark.parametrize("names", [(), ("depth",)])
def test_options_are_found_where_annotations_are_made_late(names: tuple[str, ...]) -> None:
    base = Late("Base", (), {})
    record = Late("Record", (TypedDict, base), {}, total=False)
    assert [(each.name, each.flags) for each in declared(record, *names)] == [("depth", ("--depth",))]

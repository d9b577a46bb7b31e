"""Frozen objects behave as frozen dataclasses with slots do."""

from __future__ import annotations

import copy
import pickle
from functools import cached_property
from typing import Any

import pytest

from spackscope.model.core.frozen import Frozen, asdict, field, fields, replace


class Point(Frozen):
    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)


class Total(Frozen):
    numbers: tuple[int, ...]
    sum: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sum", sum(self.numbers))


class Lazy(Frozen):
    text: str

    @cached_property
    def upper(self) -> str:
        return self.text.upper()


class Empty(Frozen):
    pass


class Named(Point):
    name: str = ""


def test_fields_are_arguments_in_their_order() -> None:
    # The first objects are made without a compiled __init__.
    for x in range(40):
        point = Point(x, secret="key")
        assert (point.x, point.y, point.names, point.secret) == (x, 0, [], "key")
        assert point.names is not Point(x).names
        assert Total((x, 1)).sum == x + 1


@pytest.mark.parametrize(
    ("arguments", "options"),
    [((), {}), ((1, 2, [], "", 5), {}), ((1,), {"z": 1}), ((1,), {"x": 1})],
)
def test_wrong_arguments_are_a_type_error(arguments: Any, options: Any) -> None:
    for _interpreted_then_compiled in range(40):
        with pytest.raises(TypeError):
            Point(*arguments, **options)


def test_objects_of_one_class_with_equal_fields_are_equal() -> None:
    assert Total((1, 2)) == Total((1, 2)) != Total((2, 1))
    assert hash(Total((1, 2))) == hash(Total((1, 2)))
    assert Empty() == Empty()
    assert Lazy((1,)) != Total((1,))  # type: ignore[arg-type]


def test_fields_of_the_base_come_first() -> None:
    named = replace(Named(1, name="a"), y=2)
    assert (named.x, named.y, named.name) == (1, 2, "a")
    assert named != Point(1, 2)


@pytest.mark.parametrize("name", ["x", "other"])
def test_fields_are_not_set_or_deleted(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(Point(1), name, 2)
    with pytest.raises(AttributeError):
        delattr(Point(1), name)


def test_values_are_read_and_replaced_by_name() -> None:
    assert repr(Point(1, secret="key")) == "Point(x=1, y=0, names=[])"
    assert asdict(Total((1, 2))) == {"numbers": (1, 2), "sum": 3}
    assert [(each.name, each.type) for each in fields(Lazy)] == [("text", "str")]
    assert replace(Total((1,)), numbers=(2, 3)).sum == 5
    assert replace(Point(1, 2), x=3) == Point(3, 2)
    with pytest.raises(TypeError):
        replace(Point(1), z=1)  # type: ignore[call-arg]
    match Total((1,)):
        case Total(numbers):
            assert numbers == (1,)


def test_a_cached_property_is_computed_once() -> None:
    lazy = Lazy("a")
    assert lazy.upper is lazy.upper == "A"
    with pytest.raises(AttributeError):
        lazy.text = "b"  # type: ignore[misc]


@pytest.mark.parametrize("value", [Point(1, 2, ["a"]), Total((1, 2)), Lazy("a"), Empty()])
def test_copies_are_equal(value: Frozen) -> None:
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value

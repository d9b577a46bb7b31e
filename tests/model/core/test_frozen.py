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
    sum: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sum", sum(self.numbers))


class Lazy(Frozen):
    text: str

    @cached_property
    def upper(self) -> str:
        return self.text.upper()


class Empty(Frozen):
    pass


def test_fields_are_arguments_in_their_order() -> None:
    # The first objects are made without a compiled __init__.
    for x in range(40):
        point = Point(x, secret="key")
        assert (point.x, point.y, point.names, point.secret) == (x, 0, [], "key")
        assert Total((x, 1)).sum == x + 1


@pytest.mark.parametrize(
    ("arguments", "options"),
    [((), {}), ((1, 2, [], "", 5), {}), ((1,), {"z": 1}), ((1,), {"x": 1})],
)
def test_wrong_arguments_are_a_type_error(arguments: Any, options: Any) -> None:
    for _interpreted_then_compiled in range(40):
        with pytest.raises(TypeError):
            Point(*arguments, **options)


def test_each_object_has_its_own_default() -> None:
    assert Point(1).names is not Point(1).names


def test_objects_with_equal_fields_are_equal() -> None:
    assert Total((1, 2)) == Total((1, 2))
    assert hash(Total((1, 2))) == hash(Total((1, 2)))
    assert Total((1, 2)) != Total((2, 1))
    assert Empty() == Empty()


def test_a_class_is_part_of_equality() -> None:
    class Other(Frozen):
        text: str

    assert Lazy("a") != Other("a")


def test_fields_are_not_set_or_deleted() -> None:
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    with pytest.raises(AttributeError):
        setattr(point, "other", 2)  # noqa: B010


def test_repr_leaves_secrets_out() -> None:
    assert repr(Point(1, secret="key")) == "Point(x=1, y=0, names=[])"


def test_replace_runs_the_init_of_the_class() -> None:
    assert replace(Total((1,)), numbers=(2, 3)).sum == 5
    assert replace(Point(1, 2), x=3) == Point(3, 2)
    with pytest.raises(TypeError):
        replace(Point(1), z=1)  # type: ignore[call-arg]


def test_fields_and_values_by_name() -> None:
    assert [(each.name, each.type) for each in fields(Total)] == [
        ("numbers", "tuple[int, ...]"),
        ("sum", "int"),
    ]
    assert asdict(Total((1, 2))) == {"numbers": (1, 2), "sum": 3}


def test_a_cached_property_is_computed_once() -> None:
    lazy = Lazy("a")
    assert lazy.upper is lazy.upper == "A"
    with pytest.raises(AttributeError):
        lazy.text = "b"  # type: ignore[misc]


def test_it_can_be_matched_by_position() -> None:
    match Total((1,)):
        case Total(numbers):
            assert numbers == (1,)


@pytest.mark.parametrize("value", [Point(1, 2, ["a"]), Total((1, 2)), Lazy("a"), Empty()])
def test_copies_are_equal(value: Frozen) -> None:
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value

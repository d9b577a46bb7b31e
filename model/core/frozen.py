"""Frozen objects like those of `@dataclass(frozen=True, slots=True)`, at a fraction of the cost.

`dataclasses` imports `inspect`, which takes as long as Python itself takes to start, and compiles
six methods for each class, few of which are ever called. Here all classes share their methods.

    class Compiler(Frozen):
        name: str
        version: str = ""

    replace(Compiler("gcc"), version="13.2.0")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import attrgetter

# Like `typing.TYPE_CHECKING`; importing `typing` takes as long as importing ten modules.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_options: object) -> Callable[[type], type]:
        return lambda class_: class_


_REQUIRED: Any = object()
"""The default of a field without one."""


class _Field:
    """A field of a frozen class: its default, and whether `repr` shows it."""

    __slots__ = ("default", "default_factory", "name", "repr", "type")

    name: str
    type: str

    def __init__(
        self,
        *,
        default: Any = _REQUIRED,
        default_factory: Callable[[], Any] | None = None,
        repr: bool = True,
    ) -> None:
        self.default, self.default_factory, self.repr = default, default_factory, repr


def _fields(class_: _FrozenType) -> tuple[_Field, ...]:
    """Return the fields of a frozen class."""
    return tuple(class_.__fields__.values())


def _replace(instance: Frozen, /, **changes: Any) -> Frozen:
    """Return a copy of a frozen object, with some fields changed."""
    class_ = type(instance)
    values = [
        changes.pop(name) if name in changes else getattr(instance, name)
        for name in class_.__fields__
    ]
    return class_(*values, **changes)


def _asdict(instance: Frozen) -> dict[str, Any]:
    """Return the values of a frozen object by the names of its fields."""
    return {name: getattr(instance, name) for name in type(instance).__fields__}


if TYPE_CHECKING:
    # Type checkers check the arguments of these.
    from dataclasses import asdict, field, fields, replace
else:
    asdict, field, fields, replace = _asdict, _Field, _fields, _replace

__all__ = ["Frozen", "asdict", "field", "fields", "replace"]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _FrozenType(type):
    """Turn the annotations of a class into fields; cached properties need a `__dict__`, too."""

    __fields__: Mapping[str, _Field]
    __values__: Callable[[Any], Any]
    __setters__: tuple[Callable[[Any, Any], None], ...]
    __is_completed__: bool

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _FrozenType:
        own: dict[str, _Field] = {}
        for field_name, type_ in namespace.get("__annotations__", {}).items():
            field = namespace.pop(field_name, _REQUIRED)
            if type(field) is not _Field:
                field = _Field(default=field)
            field.name, field.type = field_name, type_
            own[field_name] = field
        is_cached = any(type(value) is cached_property for value in namespace.values())
        namespace["__slots__"] = (*own, *(("__dict__", "__weakref__") if is_cached else ()))
        fields = dict[str, _Field]()
        for base in bases:
            fields |= getattr(base, "__fields__", {})
        fields |= own
        namespace["__fields__"] = fields
        namespace["__values__"] = attrgetter(*fields) if fields else bool
        namespace["__match_args__"] = tuple(fields)
        class_ = super().__new__(cls, name, bases, namespace)
        class_.__setters__ = tuple([getattr(class_, name).__set__ for name in fields])
        # A call less for each object of most classes.
        class_.__is_completed__ = "__post_init__" in namespace
        return class_


class Frozen(metaclass=_FrozenType):
    """Base of classes whose annotations are fields. Objects with equal fields are equal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        class_ = type(self)
        if options or len(arguments) != len(class_.__setters__):
            arguments = _completed(class_, arguments, options)
        for set_, value in zip(class_.__setters__, arguments, strict=True):
            set_(self, value)
        if class_.__is_completed__:
            self.__post_init__()

    def __post_init__(self) -> None:
        """Set fields that depend on other fields, with `object.__setattr__`."""

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        values = type(self).__values__
        return other is self or values(self) == values(other)

    def __hash__(self) -> int:
        return hash(type(self).__values__(self))

    def __repr__(self) -> str:
        shown = [field.name for field in type(self).__fields__.values() if field.repr]
        texts = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({texts})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of a frozen {type(self).__qualname__} is not set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of a frozen {type(self).__qualname__} is not deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(_asdict(self).values())


def _completed(
    class_: _FrozenType, arguments: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Return the values of all fields from positional and keyword arguments. Raises TypeError."""
    values, used = list(arguments), 0
    for name, field in islice(class_.__fields__.items(), len(arguments), None):
        if name in options:
            values.append(options[name])
            used += 1
        elif field.default_factory is not None:
            values.append(field.default_factory())
        elif field.default is not _REQUIRED:
            values.append(field.default)
        else:
            raise TypeError(f"{class_.__qualname__} needs {name}")
    if len(values) > len(class_.__fields__) or used < len(options):
        raise TypeError(f"{class_.__qualname__} has not so many fields, or none of these names")
    return tuple(values)

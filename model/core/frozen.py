"""Frozen objects: what `@dataclass(frozen=True, slots=True)` makes, at a fraction of its cost.

`dataclasses` imports `inspect`, which takes as long as Python itself takes to start, and compiles
six methods for each class, few of which are ever called. Here all classes share their methods,
and the `__init__` of a class is compiled once it is called often.

    class Compiler(Frozen):
        name: str
        version: str = ""

    replace(Compiler("gcc"), version="13.2.0")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter

# As in `typing`, whose import would take as long as that of ten modules.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_options: object) -> Callable[[type], type]:
        return lambda class_: class_


_FEW = 16
"""Calls of an `__init__` that take less time than compiling it."""

_REQUIRED: Any = object()
"""The default of a field without one."""


class _Field:
    """A field: not each is written by `repr`."""

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
    """Return a copy of a frozen object with other values of some fields."""
    return type(instance)(**{**_asdict(instance), **changes})


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
    """Make fields of the annotations of a class. One with cached properties gets a `__dict__`."""

    __fields__: Mapping[str, _Field]
    __values__: Callable[[Any], Any]
    __calls__: int

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _FrozenType:
        fields: dict[str, _Field] = {}
        for field_name, type_ in namespace.get("__annotations__", {}).items():
            field = namespace.pop(field_name, _REQUIRED)
            if type(field) is not _Field:
                field = _Field(default=field)
            field.name, field.type = field_name, type_
            fields[field_name] = field
        is_cached = any(type(value) is cached_property for value in namespace.values())
        namespace["__slots__"] = (*fields, *(("__dict__", "__weakref__") if is_cached else ()))
        namespace["__fields__"], namespace["__calls__"] = fields, 0
        namespace["__values__"] = attrgetter(*fields) if fields else bool
        namespace["__match_args__"] = tuple(fields)
        return super().__new__(cls, name, bases, namespace)


class Frozen(metaclass=_FrozenType):
    """Base of classes whose annotations are fields. Objects with equal fields are equal.

    `__post_init__`, if a class has it, may set fields with `object.__setattr__`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        class_ = type(self)
        class_.__calls__ += 1
        if class_.__calls__ > _FEW or not _set_fields(self, arguments, options):
            class_.__init__ = _compile_init(class_)  # type: ignore[method-assign]
            class_.__init__(self, *arguments, **options)

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


def _set_fields(
    instance: Frozen, arguments: Sequence[object], options: Mapping[str, object]
) -> bool:
    """Set the fields from arguments as a compiled `__init__` does; False if they do not fit."""
    fields = type(instance).__fields__
    given = {**dict(zip(fields, arguments, strict=False)), **options}
    if len(given) != len(arguments) + len(options) or not given.keys() <= fields.keys():
        return False
    for name, field in fields.items():
        if name not in given:
            factory = field.default_factory
            given[name] = field.default if factory is None else factory()
        if given[name] is _REQUIRED:
            return False
        object.__setattr__(instance, name, given[name])
    if hasattr(instance, "__post_init__"):
        instance.__post_init__()
    return True


def _compile_init(class_: _FrozenType) -> Callable[..., None]:
    """Compile the `__init__` of a class: its arguments are its fields, in their order."""
    names: dict[str, Any] = {}
    parameters, lines = [], []
    for name, field in class_.__fields__.items():
        names[f"set_{name}"] = vars(class_)[name].__set__
        names[f"default_{name}"] = field.default_factory or field.default
        is_required = field.default is _REQUIRED and field.default_factory is None
        parameters.append(name if is_required else f"{name}=default_{name}")
        if field.default_factory is not None:
            lines.append(f" if {name} is default_{name}: {name} = default_{name}()")
        lines.append(f" set_{name}(self, {name})")
    if hasattr(class_, "__post_init__"):
        lines.append(" self.__post_init__()")
    text = "\n".join([f"def __init__(self, {', '.join(parameters)}):", *lines, " pass"])
    exec(text, names)
    init: Callable[..., None] = names["__init__"]
    return init

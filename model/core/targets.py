"""Hold targets against Spack's target constraints, through the microarchitectures of archspec."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archspec.cpu import Microarchitecture


@lru_cache(maxsize=256)
def target_test(constraint: str) -> Callable[[str], bool]:
    """Make the test for a constraint written as after Spack's `target=`.

    A list holds where one of its entries does; empty ones are passed over. `a:b`, `a:` and `:b`
    are ranges in archspec's partial order, so that `x86_64:` takes in no `aarch64`; `*` is any
    target. The rules are those of `ArchSpec._target_satisfies` in lib/spack/spack/spec.py.
    """
    entries = [_entry(text) for text in constraint.split(",") if text]
    return lambda target: any(fits(target) for fits in entries)


def _entry(text: str) -> Callable[[str], bool]:
    low, colon, high = text.partition(":")
    if not colon:
        return (lambda _: True) if low == "*" else low.__eq__
    return lambda target: _between(target, low, high)


@lru_cache(maxsize=1 << 12)
def _between(target: str, low: str, high: str) -> bool:
    its = _microarchitecture(target)
    return (not low or its >= _microarchitecture(low)) and (
        not high or its <= _microarchitecture(high)
    )


def _microarchitecture(name: str) -> Microarchitecture:
    # Reading archspec's tables takes longer than most queries.
    from archspec.cpu import TARGETS, generic_microarchitecture

    known = TARGETS.get(name)
    return known if known is not None else generic_microarchitecture(name)


def is_known(name: str) -> bool:
    """Tell whether archspec knows a target by this name."""
    from archspec.cpu import TARGETS

    return name in TARGETS


def family(name: str) -> str:
    """Give the family of a target, as `x86_64` for `zen4`."""
    return str(_microarchitecture(name).family)

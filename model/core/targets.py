"""Check targets against Spack's target constraints, through archspec's microarchitectures."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archspec.cpu import Microarchitecture


@lru_cache(maxsize=256)
def target_test(constraint: str) -> Callable[[str], bool]:
    """Return the check for a constraint written as after Spack's `target=`.

    A list holds where one of its entries does; empty ones are ignored. `a:b`, `a:` and `:b` are
    ranges in archspec's partial order, so that `x86_64:` does not include `aarch64`; `*` is any
    target. The rules are those of `ArchSpec._target_satisfies` in lib/spack/spack/spec.py.

    Example: `target_test("x86_64_v3:")("zen4") is True`.
    """
    entries = [_entry(text) for text in constraint.split(",") if text]
    return lambda target: any(fits(target) for fits in entries)


def _entry(text: str) -> Callable[[str], bool]:
    low, colon, high = text.partition(":")
    if not colon:
        return (lambda _: True) if low == "*" else low.__eq__
    return lambda target: _is_between(target, low, high)


@lru_cache(maxsize=1 << 12)
def _is_between(target: str, low: str, high: str) -> bool:
    microarchitecture = _microarchitecture(target)
    return (not low or microarchitecture >= _microarchitecture(low)) and (
        not high or microarchitecture <= _microarchitecture(high)
    )


def _microarchitecture(name: str) -> Microarchitecture:
    # Reading archspec's tables takes longer than most queries.
    from archspec.cpu import TARGETS, generic_microarchitecture

    microarchitecture = TARGETS.get(name)
    return microarchitecture if microarchitecture is not None else generic_microarchitecture(name)

"""What a word of a command line can become."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from spackscope.model.core.frozen import Frozen

MAX_CHOICES = 100
"""Choices for a word; more are offered as what they begin with."""


class Choice(Frozen):
    """What a word can become, and a note on it; `is_whole` unless more has to follow it."""

    text: str
    note: str = ""
    is_whole: bool = True


def bounded(choices: Sequence[Choice]) -> list[Choice]:
    """Return the choices, or where there are more than MAX_CHOICES what several begin with.

    A beginning is one character longer than what all have in common, so it never hides a choice:
    a shell inserts what all have in common.

    >>> [choice.text for choice in bounded([Choice(f"py-{n}") for n in range(200)])][:2]
    ['py-0', 'py-1']
    """
    if len(choices) <= MAX_CHOICES:
        return [*choices]
    first, last = min(choice.text for choice in choices), max(choice.text for choice in choices)
    pairs = enumerate(zip(first, last, strict=False), 1)
    length = next((n for n, (left, right) in pairs if left != right), len(first) + 1)
    groups: dict[str, list[Choice]] = defaultdict(list)
    for choice in choices:
        groups[choice.text[:length]].append(choice)
    shown = sorted(groups.items())[:MAX_CHOICES]
    return [
        group[0] if len(group) == 1 else Choice(start, f"{len(group):,} choices", False)
        for start, group in shown
    ]

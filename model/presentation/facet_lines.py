"""Lay out sections of facets as lines: a head, the first values, a line to show the others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import clean

if TYPE_CHECKING:
    from spackscope.model.catalog.facets import FacetKey, FacetSection, FacetValue

SHOWN = 5
"""Values of a section that are shown before it is opened, besides those with a mark."""


class FacetLine(Frozen):
    """A line: the head of a section, one of its values, or the switch for the others.

    `most` is the greatest count of the values, for their bars.
    """

    section: FacetSection
    text: str
    value: FacetValue | None = None
    most: int = 0
    is_switch: bool = False

    @property
    def is_head(self) -> bool:
        """Whether it is the head of its section."""
        return self.value is None and not self.is_switch


def facet_lines(
    sections: Sequence[FacetSection], typed: str = "", opened: Collection[FacetKey] = ()
) -> list[FacetLine]:
    """Return the lines of some sections; what is typed filters the values.

    The filter looks at the name of the section too, as in `target zen`.
    """
    lines: list[FacetLine] = []
    for section, values in _fitting(sections, typed):
        lines += _section_lines(section, values, is_open=section.key in opened)
    return lines


def _fitting(
    sections: Sequence[FacetSection], typed: str
) -> Iterator[tuple[FacetSection, Sequence[FacetValue]]]:
    """Yield the sections with a value that fits what is typed, each with these values."""
    if not typed.strip():
        yield from ((section, section.values) for section in sections)
        return
    items = [(section, value) for section in sections for value in section.values]
    texts = matching(typed, items, lambda item: f"{item[0].key.label} {item[1].text}")
    kept = {id(value) for _, value in texts}
    for section in sections:
        if values := [value for value in section.values if id(value) in kept]:
            yield section, values


def _section_lines(
    section: FacetSection, values: Sequence[FacetValue], *, is_open: bool
) -> Iterator[FacetLine]:
    most = max((v.count for v in values if v.condition is None), default=0)
    yield FacetLine(section, clean(section.key.label))
    shown = values if is_open else _first(values)
    for value in shown:
        yield FacetLine(section, value.text, value, most)
    if (more := len(values) - len(shown)) > 0:
        yield FacetLine(section, f"… {more:,} more", is_switch=True)
    elif is_open and len(_first(values)) < len(values):
        yield FacetLine(section, "… fewer", is_switch=True)


def _first(values: Sequence[FacetValue]) -> Sequence[FacetValue]:
    """Return the first values and those with a mark; all where a line would hide one alone."""
    shown = [v for n, v in enumerate(values) if n < SHOWN or v.mark is not None]
    return values if len(values) - len(shown) <= 1 else shown

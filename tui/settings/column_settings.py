"""Find the columns that the settings `sort` and `hidden` name."""

from __future__ import annotations

from collections.abc import Iterator

from spackscope.model.core.columns import ALIASES, BY_NAME
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.index.view import USED_BY, Sort
from spackscope.model.report.table_columns import DIFFERS_IN
from spackscope.tui.settings.origins import Mistake
from spackscope.tui.settings.settings import Settings

KEPT = ("hash", "package")
"""The columns that stay: a row is known by them."""

_IN_NO_TABLE = ("variants",)
"""Columns that the table has one of for each variant."""

_NAMES = (*(name for name in BY_NAME if name not in _IN_NO_TABLE), USED_BY, DIFFERS_IN)


def column_named(text: str) -> str:
    """Return the column of the table that a text names: `os`, `+mpi`; "" if there is none.

    A variant is not looked up: which there are depends on the rows.
    """
    if text.startswith("+"):
        return text if len(text) > 1 else ""
    name = text.lower().replace("_", " ")
    name = ALIASES.get(text.lower(), name)
    return name if name in _NAMES else ""


def first_sort(settings: Settings) -> Sort | None:
    """Return what rows are sorted by at the start."""
    column = column_named(settings.sort.removeprefix("-"))
    return Sort(column, descending=settings.sort.startswith("-")) if column else None


def hidden_columns(settings: Settings) -> frozenset[str]:
    """Return the columns that are hidden at the start."""
    return frozenset(filter(None, map(column_named, settings.hidden))).difference(KEPT)


def check_columns(settings: Settings) -> Iterator[Mistake]:
    """Yield what is wrong with the columns that the settings name."""
    if settings.sort:
        text = settings.sort.removeprefix("-")
        if column_named(text) == DIFFERS_IN:
            yield Mistake(settings.origin("sort"), f"rows cannot be sorted by {DIFFERS_IN}")
        elif not column_named(text):
            yield Mistake(settings.origin("sort"), f"sort: {_unknown(text or settings.sort)}")
    for text in settings.hidden:
        if column_named(text) in KEPT:
            sentence = f"hidden: the {column_named(text)} stays, rows are known by it"
            yield Mistake(settings.origin("hidden"), sentence)
        elif not column_named(text):
            yield Mistake(settings.origin("hidden"), f"hidden: {_unknown(text)}")


def _unknown(text: str) -> str:
    variant = f"+{text.lstrip('+~-') or 'NAME'}"
    hint = did_you_mean(text, _NAMES) or f"; a variant is written {variant}"
    return f"there is no column {text}{hint}"

"""Read the results of a view: for a worker thread."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.assist.advice import check_input, explain_no_match, note_on, relaxations
from spackscope.model.assist.completion import complete
from spackscope.model.assist.offers import Note
from spackscope.model.core.errors import Unanswerable
from spackscope.model.index.catalog import Catalog, Listing, Row
from spackscope.model.index.rows import PackageCount
from spackscope.model.index.view import View
from spackscope.model.query.parser import ParsedInput, parse_input
from spackscope.model.report.query_remarks import hidden_by_host
from spackscope.model.report.row_notes import row_notes
from spackscope.model.report.titles import shared_texts
from spackscope.tui.browser.state import NO_COMPLETIONS, Refusal, Results
from spackscope.tui.keymap import shown
from spackscope.tui.widgets.spec_rows import read_windows, window_starts

_NEAR = 45
"""Rows around the cursor that are read with the listing."""


def read_results(
    catalog: Catalog,
    view: View,
    typed: ParsedInput | None,
    *,
    target: Row | str | None = None,
    may_refuse: bool = True,
    completes: bool = True,
    instead: tuple[View, ParsedInput] | None = None,
) -> Results | Refusal:
    """Read the packages and rows of a view, with the cursor on the row or hash `target`.

    A `typed` view without a match is refused if `may_refuse`; but if the view `instead` has a
    match, its results are returned. Raises Cancelled.
    """
    selected = catalog.selected_package(view.query)
    others = view.query.with_package(None) if selected is not None else view.query
    try:
        packages = catalog.packages(others)
        partition = row_notes(catalog).partition
        listing = catalog.listing(view, partition=partition)
    except Unanswerable as error:
        parsed = typed or parse_input(str(view.query), 0)
        return Refusal(note_on(error.condition, str(error), parsed), is_unanswerable=True)
    if instead is not None and not listing.shown:
        other = read_results(catalog, *instead)
        if isinstance(other, Results) and other.listing.shown:
            return other
    if typed is not None and may_refuse and not listing.shown:
        return _refuse(catalog, view, typed, completes=completes)
    return _results(catalog, listing, packages, target)


def _results(
    catalog: Catalog, listing: Listing, packages: Sequence[PackageCount], target: Row | str | None
) -> Results:
    view, selected = listing.view, catalog.selected_package(listing.view.query)
    elsewhere = 0 if listing.shown else sum(package.shown for package in packages)
    listing.precompute()
    cursor = _cursor(catalog, listing, target)
    starts = window_starts(cursor - _NEAR, cursor + _NEAR, len(listing))
    return Results(
        listing,
        _with_selected(packages, selected),
        selected,
        shared_texts(listing),
        _explanation(catalog, listing, elsewhere),
        () if listing.shown else relaxations(catalog, view.query),
        catalog.virtuals.sentence(view.query),
        hidden_by_host(catalog, view.query),
        cursor,
        read_windows(listing, starts),
    )


def _refuse(catalog: Catalog, view: View, typed: ParsedInput, *, completes: bool) -> Refusal:
    """Refuse a text without a match, with completions of an unfinished word, or with a note."""
    word = complete(catalog, typed) if completes else NO_COMPLETIONS
    if word.items:
        return Refusal(None, completions=word)
    note = check_input(catalog, typed)
    if note is None:
        note = Note(explain_no_match(catalog, view.query), None)
    return Refusal(note, completions=word)


def _with_selected(
    packages: Sequence[PackageCount], selected: PackageCount | None
) -> Sequence[PackageCount]:
    """Add the selected package to the list if nothing of it matches."""
    if selected is None or any(package.id == selected.id for package in packages):
        return packages
    return sorted([*packages, selected._replace(shown=0)], key=lambda package: package.id)


def _cursor(catalog: Catalog, listing: Listing, target: Row | str | None) -> int:
    if isinstance(target, Row) and target.catalog is not catalog:
        target = target.spec.hash
    rows = catalog.by_hash(target) if isinstance(target, str) else [target] if target else []
    numbers = map(listing.row_of, rows)
    return next((number for number in numbers if number is not None), 0)


def _explanation(catalog: Catalog, listing: Listing, elsewhere: int) -> str:
    """Explain why there are no rows, and which key helps."""
    if listing.shown:
        return ""
    query = listing.view.query
    sentence = explain_no_match(catalog, query)
    if elsewhere:
        return f"{sentence}\n{elsewhere:,} of other packages match"
    return (
        f"{sentence}\n{shown('undo')} goes back · {shown('clear')} removes all filters"
        if query
        else sentence
    )

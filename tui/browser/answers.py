"""Ask the catalog for a view, and for what there is to say of the text it was typed as."""

from __future__ import annotations

from collections.abc import Iterator

from spackscope.model.assist.completion import Completions, complete
from spackscope.model.assist.diagnostics import check_input, unanswerable_note
from spackscope.model.assist.no_match import explain_no_match
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import View
from spackscope.model.core.column import Column
from spackscope.model.core.columns import COLUMNS
from spackscope.model.core.errors import (
    Unanswerable,
)
from spackscope.model.core.progress import ShouldStop
from spackscope.model.query.parsed_input import ParsedInput, parse_input
from spackscope.tui.browser.messages import Answered, Offered, Refused


def answers(
    catalog: Catalog,
    view: View,
    generation: int,
    typed: ParsedInput | None,
    should_stop: ShouldStop,
    *,
    may_refuse: bool = True,
    completes: bool = True,
) -> Iterator[Answered | Refused | Offered]:
    """Give the rows of a view, and then completions where it comes from what is being `typed`.

    What is being typed is refused, if it may be, where it has no match and the word is not all
    there yet, or a condition is one that nothing can fulfil. It is completed if `completes`.
    Raises Cancelled.
    """
    found = None

    def complete_word(typed: ParsedInput) -> Completions:
        if not completes:
            return Completions(typed.cursor, typed.cursor)
        return complete(catalog, typed, should_stop=should_stop)

    try:
        selected = catalog.selected_package(view.query)
        others = view.query.with_package(None) if selected is not None else view.query
        packages = catalog.packages(others, should_stop=should_stop)
        listing = catalog.listing(view, should_stop=should_stop)
    except Unanswerable as error:
        parsed = typed or parse_input(str(view.query), 0)
        yield Refused(generation, unanswerable_note(error, parsed), unanswerable=True)
    else:
        note = None
        elsewhere = sum(package.shown for package in packages) if not listing.shown else 0
        if typed is not None and may_refuse and not listing.shown and not elsewhere:
            found = complete_word(typed)
            note = None if found.items else check_input(catalog, typed, should_stop)
        if note is not None or (found is not None and found.items):
            yield Refused(generation, note)
        else:
            listing.precompute()
            why = "" if listing.shown or elsewhere else explain_no_match(catalog, view.query)
            if elsewhere:
                why = f"nothing of this package matches, but {elsewhere:,} of other packages"
            columns, telling = _columns(catalog, view, typed), catalog.varying_columns(view.query)
            virtuals = catalog.virtuals.sentence(view.query)
            yield Answered(generation, packages, listing, columns, telling, why, virtuals)
    if typed is not None:
        yield Offered(typed, found or complete_word(typed))


def _columns(catalog: Catalog, view: View, typed: ParsedInput | None) -> list[Column]:
    """Return the columns to show, among them the one whose filter is typed in."""
    shown = {column.name for column in catalog.columns(view)} | {typed.column if typed else ""}
    return [column for column in COLUMNS if column.name in shown]

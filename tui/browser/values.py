"""Count the rows by value and by package, and write chosen values into the query."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial

from spackscope.model.core.columns import BY_NAME, COUNTED
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import split_variant
from spackscope.model.index.rows import PackageCount
from spackscope.model.index.value_counts import (
    VARIANTS,
    SectionKey,
    SectionValue,
    ValueSection,
    Verb,
    choose,
    value_sections,
    variant_texts,
)
from spackscope.model.query.ast import Query, exact_term
from spackscope.model.report.titles import Summaries, package_summaries
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import BrowserState, CountedValues
from spackscope.tui.keymap import shown


def open_values(host: BrowserHost) -> None:
    """Go to the values of the column under the cursor; from the values go back to the rows."""
    if host.where.pane == "values":
        host.focus("specs")
        return
    if host.state.catalog is None:
        host.say("there are no values to choose from yet", error=True)
        return
    # The values of the packages are their list itself.
    key, value = under_cursor(host) if host.where.pane != "packages" else (None, None)
    if key is not None and key.column not in COUNTED:
        values = "Hashes" if key.column == "hash" else f"{BY_NAME[key.column].label.title()}s"
        host.say(f"{values} have no value list. Press {shown('filter')} to filter.")
        return
    if key is not None or not _are_counted(host.state):
        place = (key, value) if key is not None else None
        host.change(values=replace(host.state.values, place=place, is_awaited=True))
    host.focus("values")
    count_values(host)


def _are_counted(state: BrowserState) -> bool:
    """Check whether the values on the screen were counted from the rows that are shown."""
    results, shown = state.results, state.values
    is_of_query = results is not None and shown.query == results.listing.view.query
    return is_of_query and shown.catalog is state.catalog


def count_values(host: BrowserHost) -> None:
    """Count the values of the rows, unless they are counted already."""
    results = host.state.results
    catalog, shown = host.state.catalog, host.state.values
    if catalog is None or results is None:
        return
    query, wanted = results.listing.view.query, shown.place[0] if shown.place else None
    is_counted = _are_counted(host.state) and not shown.is_awaited
    # A count of other rows, left again before it was done, must not be shown for these.
    if is_counted and not host.is_running(jobs.VALUES):
        return

    def read(report: CallOnLoop) -> CountedValues:
        sections: list[ValueSection] = []
        reported = time.monotonic()
        try:
            for section in value_sections(catalog, query, wanted=wanted):
                sections.append(section)
                if time.monotonic() - reported > jobs.REPORT:
                    reported = time.monotonic()
                    counted = CountedValues(catalog, query, tuple(sections))
                    report(partial(_show_some, host, counted))
        except Unanswerable as error:
            return CountedValues(catalog, query, note=str(error))
        note = "all rows are the same" if results.listing else "no rows to count"
        return CountedValues(catalog, query, tuple(sections), note=note)

    def take(counted: CountedValues) -> None:
        host.change(values=replace(counted, place=host.state.values.place))

    waits = shown.is_awaited or shown.catalog is not catalog
    job = jobs.VALUES if waits else jobs.VALUES_AGAIN
    host.run(read, take, job, of=catalog)


def _show_some(host: BrowserHost, counted: CountedValues) -> None:
    """Show the sections counted so far, and the old sections for the rest."""
    shown, sections = host.state.values, counted.sections
    if shown.catalog is counted.catalog:
        keys = {section.key for section in sections}
        sections += tuple(section for section in shown.sections if section.key not in keys)
    # The rest is still to be counted: the query stays the query of the old sections.
    counted = replace(shown, catalog=counted.catalog, sections=sections, note=counted.note)
    host.change(values=counted)
    if not shown.is_awaited:
        host.unblock(jobs.VALUES_AGAIN)


def choose_value(
    search: Search, query: Query, verb: Verb, section: ValueSection, value: SectionValue | None
) -> None:
    """Include or exclude a value in a query, include it alone, or clear its section."""
    chosen = choose(query, section, value, verb)
    if chosen != query:
        search.choose(chosen, "")


def summarize(
    host: BrowserHost, packages: Sequence[PackageCount], show: Callable[[Summaries], object]
) -> None:
    """Summarise the matching specs of packages, and show some packages at a time.

    An empty list of packages cancels a running summary.
    """
    state = host.state
    if (catalog := state.catalog) is None or not packages:
        host.cancel(jobs.OVERVIEW)
        return
    # The packages are shown before the first rows.
    view = state.listing.view if state.listing is not None else state.view
    query = view.query.with_package(None)

    def read(report: CallOnLoop) -> Summaries:
        new: Summaries = {}
        reported = 0.0
        with contextlib.suppress(Unanswerable):
            for summaries in package_summaries(catalog, query, packages):
                new.update(summaries)
                if time.monotonic() - reported > jobs.REPORT:
                    reported = time.monotonic()
                    report(partial(show, new))
                    new = {}
        return new

    host.run(read, show, jobs.OVERVIEW, of=catalog)


def under_cursor(host: BrowserHost) -> tuple[SectionKey | None, str | None]:
    """Return the column or variant under the cursor, and its value there if it is one value."""
    where, results = host.where, host.state.results
    spec = where.row.spec if where.row is not None else None
    if where.pane == "packages":
        selected = results.selected if results is not None else None
        return SectionKey("package"), selected.name if selected is not None else None
    if where.pane == "values":
        return where.value or (None, None)
    if where.pane == "detail":
        term = where.term
        if term is None or spec is None or term.column not in BY_NAME:
            return None, None
        if term.column == VARIANTS:
            return SectionKey(VARIANTS, split_variant(term.pattern)[0]), term.pattern
        value = BY_NAME[term.column].value(spec)
        values = value if isinstance(value, tuple) else (str(value),)
        key = SectionKey(term.column)
        return key, next((each for each in values if exact_term(key.column, each) == term), None)
    if where.column.startswith("+"):
        name = where.column[1:]
        texts = [variant_texts(text) for text in spec.variants] if spec is not None else []
        of_name = [value for its_name, own in texts if its_name == name for value in own]
        return SectionKey(VARIANTS, name), of_name[0] if len(of_name) == 1 else None
    if where.column not in BY_NAME:
        return None, None
    value = BY_NAME[where.column].value(spec) if spec is not None else None
    return SectionKey(where.column), value if isinstance(value, str) else None

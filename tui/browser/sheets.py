"""Sheets in place of the table: open, read, arrange and leave them.

A sheet is the answer that a shell command prints, asked of the shown catalog in a worker thread,
and again of each newer catalog.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spackscope.model.assist.advice import explain_no_match
from spackscope.model.core.columns import shorten_path
from spackscope.model.core.errors import SpackscopeError, WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Gap
from spackscope.model.core.text import cell_width, clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import STILL_LOADING, load
from spackscope.model.index.order import Sort
from spackscope.model.query.ast import Query, join_words
from spackscope.model.query.parser import parse
from spackscope.model.report.progress import Progress
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop, progress_shown
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.remembered import cannot_be_hidden
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import LOADING, OpenTable
from spackscope.tui.keymap import KEYS, first_key, shown

if TYPE_CHECKING:
    from spackscope.model.report.sheet import Sheet

_MAX_SOURCE = 30
"""Cells of the name of a source."""
_MAX_FAILURE = 90
"""Most cells of a sentence on an unread source: two lines above a narrow table."""
_FIRST = Progress("reading…", "", "")


class BrowserAsked:
    """Implement `model.answers.Asked` for the browser, with the catalog that is shown."""

    def __init__(
        self,
        host: BrowserHost,
        catalog: Catalog,
        words: Sequence[str],
        options: Mapping[str, Any],
        show: Callable[[Sheet[Any]], object],
    ) -> None:
        self.words, self.options, self.show = words, options, show
        # The user sees which they are.
        self.are_sources_chosen = True
        self.rests_on_configuration = False
        self.sources: Sequence[str] = tuple(host.sources)
        self.session = replace(host.session)
        self._catalog = catalog

    def load(self, *groups: Sequence[str]) -> Sequence[Catalog]:
        """Load a catalog for each group of sources; the browser's own is not loaded again."""
        session = replace(self.session, include_dependency_only=False)
        return [
            self._catalog if tuple(group) == self.sources else load(group, session)
            for group in groups
        ]

    def query(self, words: Sequence[str]) -> Query:
        """Parse the words of a query. Raises QueryError."""
        query = parse(join_words(words))
        self.rests_on_configuration |= query.rests_on_configuration
        return query

    def option(self, name: str) -> str:
        """Return the key or the command of the palette that turns an option on, if any does."""
        actions = (f"switch('{name}')", f"files_{name}")
        key = next((key.name for key in KEYS if key.action in actions), "")
        if not key:
            return f"start the browser with --{name}"
        return shown(key) if first_key(key) else f"{shown('commands')} {key}"

    def hash_prefix(self) -> str:
        """Return the hash in the only word, without its slash, or an empty text."""
        word = self.words[0] if len(self.words) == 1 else ""
        return word[1:] if word.startswith("/") else ""

    def find_hash(self, catalog: Catalog, words: Sequence[str]) -> str:
        """Return the hash in the first word, without its slash."""
        return words[0].removeprefix("/")

    def no_match(self, catalog: Catalog, query: Query, sentence: str = "") -> Exception:
        """Return the exception to raise where no spec matches."""
        return WrongQuestion(sentence or explain_no_match(catalog, query))

    def read_hashes(self, path: str, shown: str) -> tuple[list[str], int] | None:
        """Return None: the browser has no option for a list of hashes."""
        return None


class Sheets:
    """Open sheets, read them again from newer catalogs, and arrange and follow their rows."""

    def __init__(self, host: BrowserHost, search: Search, navigation: Navigation) -> None:
        self.host, self._search, self._navigation = host, search, navigation
        navigation.on_sheet = self.read

    # Opening and leaving

    def ask(self, name: str, *words: str, **fields: Any) -> None:
        """Show the answer of a command; `words` follow its name, `fields` are of `OpenTable`."""
        self.open(OpenTable(name, words, **fields))

    def ask_shown(self, name: str, label: str = "", **options: Any) -> None:
        """Ask an answer about the specs that are shown; `label` says what it is."""
        query = str(self.host.state.view.query)
        label = f"{label or name}: {query or 'all specs'}"
        self.ask(name, *filter(None, [query]), options=options, label=label)

    def open(self, sheet: OpenTable) -> None:
        """Show a sheet once it is read, as a step that can be undone."""
        if self.host.state.catalog is None:
            self.host.say(LOADING, error=True)
            return
        self.host.say("")
        shown_now = self.host.state.table
        if (sheet.asked, sheet.options) == (shown_now.asked, shown_now.options):
            return
        self._navigation.go_to_table(sheet.changed(text=self._reading(sheet)))
        self.read()

    def read_without_more(self) -> None:
        """Read the sheet again, now that no more sources are being loaded."""
        if not self.host.state.table.names_sources:
            self.read()

    def read(self) -> None:
        """Read the shown sheet from the catalog, unless it was read completely."""
        opened, catalog = self.host.state.table, self.host.state.catalog
        if not opened.name:
            self.host.cancel(jobs.SHEET)
            return
        if catalog is None or (opened.catalog is catalog and not opened.is_part):
            return
        is_part, is_first = self._waits_for_sources(opened), not opened.is_read
        if is_first and opened.text != (text := self._reading(opened)):
            self.host.change(table=opened.changed(text=text))

        def answer_(report: CallOnLoop) -> Sheet[Any] | str:
            def show(sheet: Sheet[Any]) -> None:
                # Keys wait for the first rows.
                if sheet.rows and is_first:
                    # Computed here: in the event loop it would delay keys.
                    _ = sheet.constants
                    report(lambda: take(sheet, is_part=True))

            asked = BrowserAsked(self.host, catalog, opened.words, opened.options, show)
            try:
                with progress_shown(report, self._show_progress):
                    sheet: Sheet[Any] = opened.module.answer(asked)
                if sheet.ending is not None and not sheet.rows:
                    raise sheet.ending
            except SpackscopeError as error:
                return str(error)
            so_far = STILL_LOADING if is_part else catalog.part
            # The list of problems has them all.
            has_all, with_spack = opened.options.get("problems"), asked.rests_on_configuration
            gaps = () if has_all else catalog.gaps(with_configuration=with_spack)
            sheet = replace(sheet, gaps=[*filter(None, (so_far, _unread(gaps)))])
            # Computed here: in the event loop it would delay keys.
            _ = sheet.constants, sheet.is_prose
            return sheet

        def take(answer: Sheet[Any] | str, *, is_part: bool = is_part) -> None:
            now = self.host.state.table
            self.host.show_progress("")
            if isinstance(answer, str):
                text = f"{answer}\n{shown('back')} goes back"
                self.host.change(table=now.unread().changed(catalog=catalog, text=text))
                return
            self.arrange(catalog=catalog, sheet=answer, text="", is_part=is_part)
            self.host.unblock(jobs.SHEET_MORE)

        self.host.run(answer_, take, jobs.SHEET if is_first else jobs.SHEET_MORE)

    def _waits_for_sources(self, opened: OpenTable) -> bool:
        """Check whether sources being loaded may add to a sheet, which names no sources itself."""
        return self.host.is_running(jobs.LOAD) and not opened.names_sources

    def _reading(self, opened: OpenTable, progress: Progress = _FIRST) -> str:
        """Return the text in place of the rows while a sheet is read for the first time."""
        hint = f"{shown('back')} stops"
        is_late = self._waits_for_sources(opened)
        return f"{STILL_LOADING}\n{hint}" if is_late else progress.lines(hint)

    def _show_progress(self, progress: Progress) -> None:
        """Show the progress, in place of the rows if there are none yet."""
        opened = self.host.state.table
        if opened.is_read:
            self.host.show_progress(progress.line(f"{shown('back')} stops"))
        else:
            self.host.change(table=opened.changed(text=self._reading(opened, progress)))

    def _same_row(self, read: OpenTable) -> int:
        """Return the number of the row under the cursor in a sheet that was read again."""
        old, new, item = self.host.state.table, read.shown, self.host.where.item
        if item is None:
            return read.cursor
        if old.is_part and not self.host.where.sheet_cursor:
            # A cursor on the first row stays on the first row.
            return 0
        hash_ = old.shown.hash(item)
        same = (
            number
            for number, each in enumerate(new.rows)
            if each == item or (hash_ and new.hash(each) == hash_)
        )
        return next(same, 0)

    def leave(self) -> None:
        """Go back to where the sheet was opened; after a reload to the rows."""
        self.host.cancel(jobs.SHEET)
        self.host.show_progress("")
        if self.host.state.can_undo:
            self._navigation.retrace(-1)
        else:
            self._navigation.close_sheet()

    # Actions on the rows

    def arrange(self, **fields: Any) -> None:
        """Sort, filter or replace the rows, or hide columns; the cursor stays on its spec."""
        new = self.host.state.table.changed(**fields)
        self.host.change(table=new.changed(cursor=self._same_row(new)))

    def sort(self, sort: Sort | None) -> None:
        """Order the rows by a column, or with None as they were."""
        self.arrange(sort=sort)

    def filter(self, column: str, pattern: str) -> None:
        """Show the rows whose text in a column has a pattern."""
        filters = {**self.host.state.table.filters, column: pattern}
        self.arrange(filters={name: text for name, text in filters.items() if text.strip()})

    def hide(self, column: str) -> None:
        """Hide a column, and remove its filter, which nothing would show.

        The first column stays, since it names the rows.
        """
        opened = self.host.state.table
        redundant, columns = opened.sheet.redundant, opened.sheet.columns
        first = next((c for c in columns if c.drawn and c.name not in redundant), None)
        if first is not None and column == first.name:
            self.host.say(cannot_be_hidden(clean(first.label)))
        else:
            filters = {name: text for name, text in opened.filters.items() if name != column}
            self.arrange(hidden=opened.hidden | {column}, filters=filters)

    def fold(self) -> None:
        """Explain why nothing is folded."""
        self.host.say(f"Only the specs of the table are folded ({shown('undo')} goes back)")

    def bring_back(self, column: str) -> None:
        """Show a hidden column again."""
        self.arrange(hidden=self.host.state.table.hidden - {column})

    def choose(self, item: Any) -> None:
        """Go to the specs or the spec of a row, or call the `choose` of the sheet."""
        opened, column = self.host.state.table, self.host.where.column
        if opened.catalog is None:
            return
        if opened.choose is not None:
            opened.choose(item)
            return
        sheet, catalog = opened.sheet, opened.catalog

        def read(_: object) -> tuple[Query | None, str]:
            query, hash_ = sheet.query(item), sheet.hash_in(item, column)
            has_specs = query is not None and catalog.count(query) > 0
            return query if has_specs else None, sheet.leads_to(item, hash_) if hash_ else ""

        def go(found: tuple[Query | None, str]) -> None:
            query, hash_ = found
            if query is not None:
                self._navigation.close_sheet()
                self._search.choose(query, f"Now {query} ({shown('undo')} goes back)")
                self.host.focus("specs")
            elif hash_:
                self._navigation.jump_to_hash(hash_)
            else:
                self.host.say("None of its specs is in these sources")

        self.host.run(read, go, jobs.MENU)

    def switch(self, option: str, **fields: Any) -> None:
        """Turn an option of the sheet on or off, with other fields of `OpenTable`."""
        opened = self.host.state.table
        options = {**opened.options, option: not opened.options.get(option)}
        self.host.change(table=opened.changed(options=options, catalog=None, **fields))
        self.read()


def source_text(name: str) -> str:
    """Return the name of a source in clean text, a long one shortened."""
    return shorten_path(clean(name), _MAX_SOURCE)


def _unread(gaps: Sequence[Gap]) -> str:
    """Return a line that names incompletely read sources and other data; "" if none are."""
    grounds = Counter(gap.ground for gap in gaps)
    names = ", ".join(map(source_text, grounds))
    if len(grounds) > 1:
        return (
            f"{len(grounds):,} not read completely: {names} ({shown('sources')} twice lists why)"
        )
    if len(gaps) == 1 and not (gaps[0].problem.place or gaps[0].problem.origin):
        sentence = clean(gaps[0].problem.reason)
        is_short = cell_width(sentence) <= _MAX_FAILURE
        return sentence if is_short else f"{names} could not be read"
    return f"{names} was not read completely: {counted(len(gaps), 'problem')}" if gaps else ""

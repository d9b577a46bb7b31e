"""Sheets in place of the table: open, read, arrange and leave them.

A sheet is the answer that a shell command prints, asked of the shown catalog in a worker thread,
and again of each newer catalog.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from glob import escape
from importlib import import_module
from itertools import permutations
from typing import TYPE_CHECKING, Any

from spackscope.model.analysis.cover import environments
from spackscope.model.assist.advice import explain_no_match
from spackscope.model.core.columns import COUNTED, SHORT_HASH, shorten_path, spec_name
from spackscope.model.core.errors import SpackscopeError, WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Gap
from spackscope.model.core.text import cell_width, clean, counted
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.load import STILL_LOADING, load
from spackscope.model.index.view import Sort
from spackscope.model.query.ast import Query, exact_query, join_words
from spackscope.model.query.parser import parse
from spackscope.model.report.progress import Progress
from spackscope.model.sources.source_name import tag_sources
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop, progress_shown
from spackscope.tui.browser.hidden_columns import cannot_be_hidden
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import LOADING, OpenTable, diff_words
from spackscope.tui.browser.values import under_cursor
from spackscope.tui.dialogs.pick import Pick, PickDialog
from spackscope.tui.keymap import KEYS, first_key, shown

if TYPE_CHECKING:
    from spackscope.model.report.sheet import Sheet

_PROBLEMS = "problems of the sources"
"""The label of the sources with their problems."""
_MAX_SOURCE = 30
"""Cells of the name of a source."""
_MAX_FAILURE = 90
"""Most cells of a sentence on an unread source: two lines above a narrow table."""
_FIRST = Progress("reading…", "", "")


def nothing_to_compare() -> str:
    """Return a message on how to compare specs."""
    mark, diff = shown("specs-mark"), shown("diff")
    return f"Mark two rows ({mark}), or go to a row with look-alikes, then press {diff}."


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
        self._host, self._search, self._navigation = host, search, navigation
        navigation.on_sheet = self.read
        host.follow(self.read)

    # Opening and leaving

    def ask(self, name: str, *words: str, **fields: Any) -> None:
        """Show the answer of a command; `words` follow its name, `fields` are of `OpenTable`."""
        self.open(OpenTable(name, words, **fields))

    def open(self, sheet: OpenTable) -> None:
        """Show a sheet once it is read, as a step that can be undone."""
        if self._host.state.catalog is None:
            self._host.say(LOADING, error=True)
            return
        self._host.say("")
        self._navigation.go_to_table(sheet.changed(text=self._reading(sheet)))
        self.read()

    def read_without_more(self) -> None:
        """Read the sheet again, now that no more sources are being loaded."""
        if not self._host.state.table.names_sources:
            self.read()

    def read(self) -> None:
        """Read the shown sheet from the catalog, unless it was read completely."""
        opened, catalog = self._host.state.table, self._host.state.catalog
        if not opened.name:
            self._host.cancel(jobs.SHEET)
            return
        if catalog is None or (opened.catalog is catalog and not opened.is_part):
            return
        is_part, is_first = self._waits_for_sources(opened), not opened.is_read
        if is_first and opened.text != (text := self._reading(opened)):
            self._host.change(table=opened.changed(text=text))

        def answer_(report: CallOnLoop) -> Sheet[Any] | str:
            def show(sheet: Sheet[Any]) -> None:
                # Keys wait for the first rows.
                if sheet.rows and is_first:
                    # Computed here: in the event loop it would delay keys.
                    _ = sheet.constants
                    report(lambda: take(sheet, is_part=True))

            answer = import_module(f"spackscope.model.answers.{opened.name}").answer
            asked = BrowserAsked(self._host, catalog, opened.words, opened.options, show)
            try:
                with progress_shown(report, self._show_progress):
                    sheet: Sheet[Any] = answer(asked)
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
            now = self._host.state.table
            self._host.show_progress("")
            if isinstance(answer, str):
                text = f"{answer}\n{shown('back')} goes back"
                self._host.change(table=now.unread().changed(catalog=catalog, text=text))
                return
            self.arrange(catalog=catalog, sheet=answer, text="", is_part=is_part)
            self._host.unblock(jobs.SHEET_MORE)

        self._host.run(answer_, take, jobs.SHEET if is_first else jobs.SHEET_MORE)

    def _waits_for_sources(self, opened: OpenTable) -> bool:
        """Check whether sources being loaded may add to a sheet, which names no sources itself."""
        return self._host.is_running(jobs.LOAD) and not opened.names_sources

    def _reading(self, opened: OpenTable, progress: Progress = _FIRST) -> str:
        """Return the text in place of the rows while a sheet is read for the first time."""
        hint = f"{shown('back')} stops"
        is_late = self._waits_for_sources(opened)
        return f"{STILL_LOADING}\n{hint}" if is_late else progress.lines(hint)

    def _show_progress(self, progress: Progress) -> None:
        """Show the progress, in place of the rows if there are none yet."""
        opened = self._host.state.table
        if opened.is_read:
            self._host.show_progress(progress.line(f"{shown('back')} stops"))
        else:
            self._host.change(table=opened.changed(text=self._reading(opened, progress)))

    def _same_row(self, read: OpenTable) -> int:
        """Return the number of the row under the cursor in a sheet that was read again."""
        old, new, item = self._host.state.table, read.shown, self._host.where.item
        if item is None:
            return read.cursor
        if old.is_part and not self._host.where.sheet_cursor:
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
        """Go back to where the sheet was opened."""
        self._host.cancel(jobs.SHEET)
        self._host.show_progress("")
        self._navigation.leave_sheet()

    # Actions on the rows

    def arrange(self, **fields: Any) -> None:
        """Sort, filter or replace the rows, or hide columns; the cursor stays on its spec."""
        new = self._host.state.table.changed(**fields)
        self._host.change(table=new.changed(cursor=self._same_row(new)))

    def sort(self, sort: Sort | None) -> None:
        """Order the rows by a column, or with None as they were."""
        self.arrange(sort=sort)

    def filter(self, column: str, pattern: str) -> None:
        """Show the rows whose text in a column has a pattern."""
        filters = {**self._host.state.table.filters, column: pattern}
        self.arrange(filters={name: text for name, text in filters.items() if text.strip()})

    def hide(self, column: str) -> None:
        """Hide a column, and remove its filter, which nothing would show.

        The first column stays, since it names the rows.
        """
        opened = self._host.state.table
        told, columns = opened.sheet.told, opened.sheet.columns
        first = next((c for c in columns if c.drawn and c.name not in told), None)
        if first is not None and column == first.name:
            self._host.say(cannot_be_hidden(clean(first.label)))
        else:
            filters = {name: text for name, text in opened.filters.items() if name != column}
            self.arrange(hidden=opened.hidden | {column}, filters=filters)

    def fold(self) -> None:
        """Explain why nothing is folded."""
        self._host.say(f"Only the specs of the table are folded ({shown('undo')} goes back)")

    def bring_back(self, column: str) -> None:
        """Show a hidden column again."""
        self.arrange(hidden=self._host.state.table.hidden - {column})

    def choose(self, item: Any) -> None:
        """Go to the specs or the spec of a row, or call the `choose` of the sheet."""
        opened, column = self._host.state.table, self._host.where.column
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
                self._host.focus("specs")
            elif hash_:
                self._navigation.jump_to_hash(hash_)
            else:
                self._host.say("None of its specs is in these sources")

        self._host.run(read, go, jobs.MENU)

    def switch(self, option: str, **fields: Any) -> None:
        """Turn an option of the sheet on or off, with other fields of `OpenTable`."""
        opened = self._host.state.table
        options = {**opened.options, option: not opened.options.get(option)}
        self._host.change(table=opened.changed(options=options, catalog=None, **fields))
        self.read()

    # The answers

    def diff(self) -> None:
        """Compare the marked rows, or the look-alikes of the row under the cursor."""
        state = self._host.state
        catalog, listing, marks = state.catalog, state.listing, state.marks
        selected = state.selected
        if not state.has_diff(self._host.where):
            if state.table.switches:
                self.leave()
            else:
                self._host.say(nothing_to_compare())
            return
        hash_ = selected.spec.hash if selected is not None else ""
        others = [mark for mark in marks if mark != hash_]
        if len(marks) >= 2:
            self._diff(hash_, marks)
        elif catalog is None or selected is None:
            self._host.say(LOADING, error=True)
        elif others and selected.count == 1:
            self._diff(hash_, (*others, hash_))
        elif beside := state.table.beside(self._host.where.item):
            self._diff(hash_, (hash_, beside))
        else:
            ids = listing.look_alike_ids(selected.look_alike) if listing is not None else ()
            if len(ids) < 2:
                # Only one look-alike is shown: compare all in the index.
                ids = range(*selected.catalog.span(selected.look_alike))
            reading = partial(self._diff, hash_, name=_name(selected))
            self._host.run(lambda _: catalog.hashes.of(ids), reading, jobs.MENU)

    def _diff(self, column: str, hashes: Sequence[str], name: str = "") -> None:
        label = f"compare {self._named(hashes, name)}"
        self.ask("diff", *diff_words(hashes), column=column, label=label)

    def _named(self, hashes: Sequence[str], name: str = "") -> str:
        """Name some specs: their number, or their hash, and what they have in common.

        `name` is that of all, by default the name of the marks and of the row, if it is the same.
        """
        state, row = self._host.state, self._host.where.row
        names = {spec.hash: spec.title for spec in state.marked}
        names |= {each.spec.hash: _name(each) for each in (row, state.selected) if each}
        known = {name or names.get(hash_, "") for hash_ in hashes}
        common = known.pop() if len(known) == 1 else ""
        if len(hashes) == 1:
            return f"{common} /{hashes[0][:SHORT_HASH]}".strip()
        return f"{len(hashes):,} builds of {common}" if common else counted(len(hashes), "spec")

    def sources(self) -> None:
        """List the sources; in that list, switch to their problems or back."""
        opened = self._host.state.table
        if opened.name == "sources":
            self.switch("problems", label="" if opened.options.get("problems") else _PROBLEMS)
        else:
            self.ask("sources")

    def problems(self) -> None:
        """List the problems of all sources."""
        self.ask("sources", options={"problems": True}, label=_PROBLEMS)

    def why(self) -> None:
        """Show why Spack does not reuse the marked specs, or the builds of the row."""
        row, state = self._host.where.row, self._host.state
        if marks := state.marks_in_sight:
            self._why([spec.hash for spec in marks])
        elif row is None or state.results is None:
            self._host.say(state.why_no_spec(self._host.where))
        elif row.count == 1:
            self._why([row.spec.hash])
        else:
            hashes, ids = state.results.catalog.hashes, state.results.listing.ids_of(row)
            why = partial(self._why, name=_name(row))
            self._host.run(lambda _: hashes.of(ids), why, jobs.MENU)

    def _why(self, hashes: Sequence[str], name: str = "") -> None:
        is_one = len(hashes) == 1
        words = f"/{hashes[0]}" if is_one else str(exact_query("hash", *hashes))
        self.ask("why", words, label=f"reuse of {self._named(hashes, name)}")

    def cover(self, hosts: Sequence[str] = ()) -> None:
        """Show the coverage of the environments, or else of the stacks, on hosts if any are given.

        Ask for a further source if there is nothing to compare, and where coverage is shown.
        """
        catalog, opened = self._host.state.newest, self._host.state.table
        again = partial(self.cover, hosts)
        if catalog is None:
            self._ask_when_loaded("cover", again)
            return
        if opened.name == "cover" and not hosts:
            self._host.act("open", "cover")
            return

        def read(_: object) -> tuple[Sequence[str], bool]:
            return environments(catalog), any(catalog.values("stack"))

        def take(found: tuple[Sequence[str], bool]) -> None:
            names, has_stacks = found
            is_alone = len(names) == len(catalog.sources)
            is_late = not names and self._host.is_running(jobs.LOAD)
            if is_alone or is_late or not (names or has_stacks or hosts):
                self._ask_when_loaded("cover", again)
                return
            given = [self._given(catalog, name) for name in names]
            choose = self._cover_of if len(given) > 1 else None
            options = {"hosts": tuple(hosts)} if hosts else {}
            label = f"coverage of {', '.join(map(_source_text, names)) or 'the stacks'}"
            label += f" on {', '.join(hosts)}" if hosts else ""
            self.ask("cover", *given, choose=choose, options=options, label=label)
            if not names:
                self._host.say(f"{shown('cover')} adds an environment, or a host to run on")

        self._host.run(read, take, jobs.MENU)

    def _cover_of(self, row: Any) -> None:
        self.ask("cover", row.name, label=f"coverage of {_source_text(row.name)}")

    def diff_sources(self) -> None:
        """Show the changes from the first source to the second, or between two chosen sources.

        Ask for a second source where one is open.
        """
        self._host.cancel(jobs.ASK_AGAIN)
        catalog = self._host.state.newest
        names = [source.name for source in catalog.sources] if catalog is not None else []
        if len(names) == 1:
            names = tag_sources(self._host.sources[0])
        if catalog is None or len(names) < 2:
            self._ask_when_loaded("diff_sources", self.diff_sources)
        elif len(names) == 2:
            self._diff_sources(catalog, names)
        else:

            def take(pair: tuple[str, str] | None) -> None:
                if pair is not None:
                    self._diff_sources(catalog, pair)

            picks = [Pick(pair, _pair_text(pair)) for pair in permutations(names, 2)]
            title = "what changed from one source to another"
            self._host.open(PickDialog(title, "pair", picks, choose="diff"), take)

    def _diff_sources(self, catalog: Catalog, names: Sequence[str]) -> None:
        given, label = [self._given(catalog, name) for name in names], _pair_text(names)
        self.ask("diff", *given, names_sources=True, label=f"changes: {label}")

    def files(self, **options: bool) -> None:
        """Show the files of the spec under the cursor; in a sheet of files, add options to it."""
        row, opened = self._host.where.row, self._host.state.table
        if options and opened.name == "files":
            options = {**opened.options, **options}
            self.open(opened.unread().changed(options=options))
        elif row is None:
            self._host.say(self._host.state.why_no_spec(self._host.where))
        else:
            fields = {"choose": self._files_named, "choose_hint": "who has it"}
            label = f"files in {self._named([row.spec.hash])}"
            self.ask("files", f"/{row.spec.hash}", options=options, label=label, **fields)

    def _files_named(self, row: Any) -> None:
        """Show the files of the same name in the specs that are shown."""
        name = row.file.path.rpartition("/")[2]
        self.ask_shown("files", f"who has {name}", having=escape(name))

    def ask_shown(self, name: str, label: str = "", **options: Any) -> None:
        """Ask an answer about the specs that are shown; `label` says what it is."""
        query = str(self._host.state.view.query)
        label = f"{label or name}: {query or 'all specs'}"
        self.ask(name, *filter(None, [query]), options=options, label=label)

    def stats(self) -> None:
        """Count the rows by the column under the cursor, or by one that is chosen."""
        opened = self._host.state.table
        if opened.name == "stats":
            first, *_ = opened.options["by"]
            self._pick_name(
                f"count by {clean(first)} and by", partial(self._count_by, first), first
            )
            return
        if opened.name:
            undo, stats = shown("undo"), shown("stats")
            self._host.say(
                f"Only the specs of the table are counted: go back ({undo}), then {stats}"
            )
            return
        key, _ = under_cursor(self._host)
        if self._host.state.catalog is None:
            self._host.say("Nothing to count yet", error=True)
        elif key is None or key.column not in COUNTED:
            self._pick_name("count by", self._count_by)
        else:
            self._count_by(key.variant or key.column)

    def _count_by(self, *names: str) -> None:
        self.ask_shown("stats", f"count by {' and '.join(names)}", by=names)

    def _pick_name(self, title: str, take: Callable[[str], object], besides: str = "") -> None:
        """Ask for a column or a variant in which the rows differ; `besides` is not offered."""
        if (results := self._host.state.results) is None:
            return
        values = results.listing.values
        names = [name for name in COUNTED if name not in values.constants]
        ranks = values.varying_variants
        names += sorted(ranks, key=ranks.__getitem__)
        picks = [Pick(name, clean(name)) for name in names if name != besides]
        dialog = PickDialog(title, "name", picks, choose="count")
        self._host.open(dialog, lambda name: take(name) if name is not None else None)

    def _ask_when_loaded(self, action: str, ask: Callable[[], object]) -> None:
        """Ask again as long as sources are being read; else have a source added for the action."""
        if self._host.is_running(jobs.LOAD):
            self._host.say(STILL_LOADING)
            self._host.run(lambda _: None, lambda _: ask(), jobs.ASK_AGAIN)
        else:
            self._host.act("open", action)

    def _given(self, catalog: Catalog, name: str) -> str:
        """Return the source of a name as it was given."""
        # A catalog lists its sources in the order given.
        names = [source.name for source in catalog.sources]
        sources = self._host.sources
        given = dict(zip(names, sources, strict=True)) if len(names) == len(sources) else {}
        return given.get(name, name)


def _name(row: Row) -> str:
    return spec_name(row.spec.package, row.spec.version)


def _pair_text(names: Sequence[str]) -> str:
    """Name two sources, an old and a new one."""
    return " → ".join(map(_source_text, names))


def _source_text(name: str) -> str:
    return shorten_path(clean(name), _MAX_SOURCE)


def _unread(gaps: Sequence[Gap]) -> str:
    """Return a line that names incompletely read sources and other data; "" if none are."""
    grounds = Counter(gap.ground for gap in gaps)
    names = ", ".join(map(_source_text, grounds))
    if len(grounds) > 1:
        return (
            f"{len(grounds):,} not read completely: {names} ({shown('sources')} twice lists why)"
        )
    if len(gaps) == 1 and not (gaps[0].problem.place or gaps[0].problem.origin):
        sentence = clean(gaps[0].problem.reason)
        is_short = cell_width(sentence) <= _MAX_FAILURE
        return sentence if is_short else f"{names} could not be read"
    return f"{names} was not read completely: {counted(len(gaps), 'problem')}" if gaps else ""

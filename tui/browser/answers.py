"""Answers in dialogs of their own: specs or sources compared, coverage, how often values occur.

Each is read in a worker thread, shown when it is read, and read again for another catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Any

from spackscope.model.analysis.dag import Walker, dag_of, spec_at
from spackscope.model.analysis.session_fit import host_of
from spackscope.model.core.columns import (
    BY_NAME,
    COUNTED,
    FIELDS,
    SHORT_HASH,
    shorten_path,
    spec_name,
)
from spackscope.model.core.errors import SourceError, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load
from spackscope.model.index.rows import Row
from spackscope.model.query.ast import Query, Term, exact_term
from spackscope.model.report.report import Column, Report, Section, styled, text_of
from spackscope.model.report.report import Row as ReportRow
from spackscope.tui.browser.copy import copy_text
from spackscope.tui.browser.facets import under_cursor
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.rows import LOADING, why_not_shown
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Host, Task
from spackscope.tui.dialogs.base import STILL_LOADING, Dialog
from spackscope.tui.keymap import shown

# What only one of the dialogs needs is imported when that is first opened.
if TYPE_CHECKING:
    from spackscope.model.analysis.frequency import Frequency
    from spackscope.model.index.listing import Listing
    from spackscope.model.report.comparison import ComparedTable
    from spackscope.model.report.sheet import Sheet
    from spackscope.tui.dialogs.compare import CompareScreen, Destination
    from spackscope.tui.dialogs.coverage import CoverageScreen
    from spackscope.tui.dialogs.frequency import Chosen, FrequencyDialog
    from spackscope.tui.dialogs.report import ReportsDialog

_TOO_FEW = "Only one of the marked specs is in the index"
ONE_SOURCE = "Only one source is open. To see what changed: spackscope OLD NEW"
NO_CACHE = "No cache is open to compare with: open one beside the environment"
CACHES_LOADING = "The caches to compare with are still being read"
NO_ENVIRONMENT = "No source is an environment: open one with -f spack.lock, beside caches."
_MAX_SOURCE = 30
"""Cells of the name of a source."""
_MAX_KNOWN = 16
"""Answers that are kept of a catalog, to be shown again at once."""
_AWAITED = 0.3
"""Seconds after which it is asked again what more sources may answer."""
_STEP = 16
"""Specs after which progress is shown."""

ReadIds = Callable[[Catalog, "Listing | None"], Sequence[int]]


def nothing_to_compare() -> str:
    """Return what to do before specs can be compared."""
    mark, compare = shown("specs-mark"), shown("compare")
    return f"Mark two rows ({mark}), or go to a row with look-alikes, then press {compare}."


class Answers:
    """Open comparisons, the coverage and the counts, fill them, and follow what is chosen."""

    def __init__(self, host: Host, search: Search, navigation: Navigation) -> None:
        self._host, self._search, self._navigation = host, search, navigation
        self._catalog: Catalog | None = None
        self._known: dict[Hashable, Any] = {}

    def _known_of(self, catalog: Catalog) -> dict[Hashable, Any]:
        """Return the answers kept for a catalog; answers for another catalog are dropped."""
        if catalog is not self._catalog:
            self._catalog, self._known = catalog, {}
        while len(self._known) > _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return self._known

    def _given(self, catalog: Catalog, name: str) -> str:
        """Return the source of a name as it was given."""
        # A catalog lists its sources in the order given.
        names = [source.name for source in catalog.sources]
        sources = self._host.sources
        return sources[names.index(name)] if len(names) == len(sources) else name

    # Comparison

    def compare(self) -> None:
        """Compare the marked rows, or the look-alikes of the row under the cursor."""
        state, selected = self._host.state, self._host.state.selected
        catalog, marks = state.catalog, state.marks
        if catalog is None or selected is None:
            self._host.say(nothing_to_compare())
            return
        others = [mark for mark in marks if mark != selected.spec.hash]
        hash_ = selected.spec.hash
        if len(marks) >= 2:
            self._open_comparison(partial(_ids_of, marks), hash_)
        elif others and selected.count == 1:
            self._open_comparison(partial(_ids_of, (*others, hash_)), hash_)
        elif len(_look_alikes(catalog, state.listing, selected)) < 2:
            self._host.say(nothing_to_compare())
        else:
            self._open_comparison(_reading_look_alikes(hash_), hash_)

    def _open_comparison(
        self, read_ids: ReadIds, selected: str = "", below: Dialog[str] | None = None
    ) -> None:
        """Compare specs; where the user goes to one of them, the dialog below is closed, too."""
        from spackscope.tui.dialogs.compare import CompareScreen

        def copy(hash_: str) -> None:
            copy_text(self._host, hash_, f"{hash_[:SHORT_HASH]}…", screen.say)

        def fill(by_kind: bool) -> None:
            self._fill_comparison(screen, read_ids, screen.column_hash or selected, by_kind)

        def go(destination: Destination | None) -> None:
            catalog = self._host.state.catalog
            if destination is not None and catalog is not None:
                if below is not None:
                    below.dismiss()
                # Another catalog may have come meanwhile, in which the spec has another id.
                reading = partial(_find, catalog, destination)
                self._host.run(reading, self._navigation.jump, group="path")

        screen = CompareScreen(copy, fill)
        self._host.open(
            screen,
            go,
            ask=lambda: fill(screen.is_grouped),
            group="compare",
        )

    def _fill_comparison(
        self, screen: CompareScreen, read_ids: ReadIds, selected: str, by_kind: bool
    ) -> None:
        """Read a table, or take one that was read before; it replaces another one as a whole."""
        from spackscope.model.report.comparison import read_comparison

        catalog, listing = self._host.state.catalog, self._host.state.listing
        is_first = screen.table is None
        if catalog is None:
            return
        known = self._known_of(catalog)

        def job(task: Task) -> tuple[Hashable, ComparedTable, int | None] | None:
            ids = tuple(read_ids(catalog, listing))
            graph = dag_of(catalog)
            if len(set(map(graph.identity, ids))) < 2:
                return None
            cursor_on = graph.find([selected]).get(selected)

            def show(part: ComparedTable) -> None:
                if is_first:
                    task.report(lambda: screen.show_table(part, cursor_on))

            table = known.get((ids, by_kind)) or read_comparison(
                graph, ids, by_kind=by_kind, should_stop=task, show=show
            )
            return (ids, by_kind), table, cursor_on

        def done(read: tuple[Hashable, ComparedTable, int | None] | None) -> None:
            if read is None:
                screen.show_failure(_TOO_FEW)
                return
            key, known[key], cursor_on = read
            screen.show_table(known[key], cursor_on)

        self._host.run(job, done, group="compare")

    # Coverage

    def cover(self) -> None:
        """Show the environment that the selected spec is of, or else the first."""
        self._host.cancel("awaited")
        catalog, selected = self._host.state.catalog, self._host.state.selected
        sources = selected.spec.sources if selected is not None else ()

        def take(names: Sequence[str]) -> None:
            if names:
                self._open_coverage(next((name for name in names if name in sources), names[0]))
            else:
                self._ask_when_loaded(self.cover, NO_ENVIRONMENT)

        if catalog is not None:
            self._read_environments(take, "menu")

    def _ask_when_loaded(self, ask: Callable[[], object], failure: str) -> None:
        """Ask again as long as sources are being read, or else say why there is no answer.

        What is asked next takes the place of that, or there would be two dialogs, of which the one
        below would wait for an answer that nobody reads.
        """
        if self._host.is_running("load"):
            self._host.say(STILL_LOADING)
            self._host.run(lambda _: None, lambda _: ask(), group="awaited", delay=_AWAITED)
        else:
            self._host.say(failure)

    def _read_environments(self, done: Callable[[Sequence[str]], object], group: str) -> None:
        """Read which sources are environments: that is in the index."""
        from spackscope.model.analysis.cover import environments

        if (catalog := self._host.state.catalog) is not None:
            self._host.run(lambda _: environments(catalog), done, group=group)

    def _open_coverage(self, name: str) -> None:
        from spackscope.tui.dialogs.coverage import CoverageScreen

        def show_after(names: Sequence[str]) -> None:
            nonlocal name
            after = names.index(name) + 1 if name in names else 0
            name = [*names, *names, name][after]
            screen.show_environment(name)
            self._fill_coverage(screen, name)

        def copy(hashes: Sequence[str], what: str) -> None:
            copy_text(self._host, "\n".join(hashes), what, screen.say)

        def go(hash_: str | None) -> None:
            if hash_ is not None:
                self._navigation.jump_to_hash(hash_)

        screen = CoverageScreen(
            copy,
            other=lambda: self._read_environments(show_after, "cover"),
            compare=lambda hashes: self._open_comparison(partial(_ids_of, hashes), below=screen),
            why=lambda hash_: self._open_why([hash_], below=screen),
        )
        screen.show_environment(name)
        self._host.open(screen, go, ask=lambda: self._fill_coverage(screen, name), group="cover")

    def _fill_coverage(self, screen: CoverageScreen, name: str) -> None:
        """Read the coverage of an environment, or take it if it was read before.

        It replaces that of another catalog as a whole.
        """
        from spackscope.model.analysis.build_time import read_build_time
        from spackscope.model.analysis.cover import cover, find_nearest
        from spackscope.model.report.coverage import coverage_report, filtered_remarks

        if (catalog := self._host.state.catalog) is None:
            return
        known, is_first = self._known_of(catalog), screen.report is None

        def job(task: Task) -> Report | str:
            report: Report | None = known.get(name)
            if report is not None:
                return report
            source = self._given(catalog, name)
            try:
                environment = load([source], replace(self._host.session, should_stop=task))
            except SourceError as error:
                return str(error)
            coverage, remarks = cover(environment, catalog, [name]), self._remarks(catalog)
            if is_first:
                first = coverage_report(coverage, knows_nearest=False, remarks=remarks).read()
                task.report(
                    lambda: screen.show_coverage(first, _progress(0, len(coverage.missing)))
                )

            def show(_: str, done: int, total: int | None) -> None:
                if done % _STEP == 0:
                    task.report(lambda: screen.show_progress(_progress(done, total or 0)))

            coverage = find_nearest(coverage, on_progress=show, should_stop=task)
            time = read_build_time(coverage, catalog, task)
            rules = self._host.session.reuse_rules
            remarks = [*remarks, *filtered_remarks(coverage, catalog, rules)]
            return coverage_report(coverage, remarks=remarks, build_time=time).read()

        def done(report: Report | str) -> None:
            if isinstance(report, str):
                screen.show_failure(report)
            else:
                # What is said of sources that are still being read is true for now only.
                if not self._host.is_running("load"):
                    known[name] = report
                screen.show_coverage(report)

        self._host.run(job, done, group="cover")

    def _remarks(self, catalog: Catalog) -> list[str]:
        """Return what keeps a coverage from being the whole truth: caches that are not there."""
        from spackscope.model.analysis.cover import environments

        if len(environments(catalog)) == len(catalog.sources):
            return [self._no_cache()]
        return _unread(catalog)

    def _no_cache(self) -> str:
        """Return why there is no cache to compare with."""
        return CACHES_LOADING if self._host.is_running("load") else NO_CACHE

    # Changes from one source to another

    def changes(self, go: Callable[[ReportRow | None], object]) -> None:
        """Show what changed from the first source to the second, or between two of more.

        `go` is called with the row that is chosen.
        """
        self._host.cancel("awaited")
        catalog = self._host.state.catalog
        names = [source.name for source in catalog.sources] if catalog is not None else []
        if len(names) > 2:
            # It is imported when it is first opened.
            from spackscope.tui.dialogs.pick import Pick, PickDialog

            def take(pair: tuple[str, str] | None) -> None:
                if pair is not None:
                    self._open_changes(pair, go)

            picks = [Pick(pair, _pair_text(pair)) for pair in permutations(names, 2)]
            title = "what changed from one source to another"
            self._host.open(PickDialog(title, "pair", picks, choose="compare"), take)
        elif len(names) == 2:
            self._open_changes((names[0], names[1]), go)
        else:
            self._ask_when_loaded(partial(self.changes, go), ONE_SOURCE)

    def _open_changes(
        self, names: tuple[str, str], go: Callable[[ReportRow | None], object]
    ) -> None:
        """Compare two sources, and show what changed."""
        self._open_report(names, "line", _pair_text(names), partial(self._read_changes, names), go)

    def _open_report(
        self,
        key: Hashable,
        noun: str,
        heading: str,
        read: Callable[[Catalog, Task], Report | str],
        go: Callable[[ReportRow | None], object],
    ) -> ReportsDialog:
        """Open a dialog, and fill it with the report that is read, or with why it cannot be.

        The report is kept by its key; `go` is called with the row that is chosen.
        """
        from spackscope.tui.dialogs.report import ReportsDialog

        def ask() -> None:
            if (catalog := self._host.state.catalog) is not None:
                self._host.run(partial(answer, catalog), partial(done, catalog), group="report")

        def answer(catalog: Catalog, task: Task) -> Report | str:
            known: Report | None = self._known.get(key) if catalog is self._catalog else None
            try:
                report = known if known is not None else read(catalog, task)
            except SourceError as error:
                return str(error)
            if isinstance(report, str) or report is known:
                return report
            return _with_failures(report, _unread(catalog))

        def done(catalog: Catalog, report: Report | str) -> None:
            if isinstance(report, str):
                dialog.show_failure(report)
            else:
                self._known_of(catalog)[key] = report
                dialog.show_report(report)

        dialog = ReportsDialog(noun, partial(copy_text, self._host))
        dialog.heading = heading
        self._host.open(dialog, go, ask=ask, group="report")
        return dialog

    def _load(self, catalog: Catalog, names: Iterable[str], task: Task) -> list[Catalog]:
        """Load some sources of a catalog, each in a catalog of its own. Raises SourceError."""
        session = replace(self._host.session, should_stop=task, include_dependency_only=False)
        return [load([self._given(catalog, name)], session) for name in names]

    def _read_changes(self, names: tuple[str, str], catalog: Catalog, task: Task) -> Report:
        """Return what changed from a source to another. Raises SourceError."""
        from spackscope.model.analysis.source_differences import compare_sources
        from spackscope.model.report.environments import source_differences_report

        its = self._load(catalog, names, task)
        comparison = compare_sources(its[0], its[1], should_stop=task)
        report = source_differences_report(comparison, names, shows_all=True).read()
        # The names are the heading: beside them are the sums, which those of the rows are part of.
        sums, *sections = report.sections
        return replace(report, title=text_of(sums.heading), sections=sections)

    # Why a spec is not taken, and since when it is there

    def why_not(self) -> None:
        """Show what keeps Spack from taking the builds of the row under the cursor."""
        row, results = self._host.where.row, self._host.state.results
        if row is None or results is None:
            self._host.say(why_not_shown(self._host.state) or LOADING, error=True)
            return
        hashes, ids = results.catalog.hashes, results.listing.ids_of(row)
        self._host.run(lambda _: hashes.of(ids), self._open_why, group="menu")

    def _open_why(self, hashes: Sequence[str], below: Dialog[str] | None = None) -> None:
        """Show what keeps Spack from taking builds of a version.

        Where the user goes to one of them, the dialog below is closed, too.
        """

        def read(catalog: Catalog, task: Task) -> Report | str:
            from spackscope.model.answers.why import judge_query, why

            session = self._host.session
            query = Query((tuple(exact_term("hash", hash_) for hash_ in hashes),))
            judged = judge_query(catalog, query, session.reuse_rules, should_stop=task)
            if not judged:
                return f"No source has /{hashes[0][:SHORT_HASH]} any more"
            what = spec_name(judged[0].package, judged[0].version)
            if len(judged) == 1:
                what += f" /{hashes[0][:SHORT_HASH]}"
            elif judged[0].missing:
                what += f", {len(judged):,} missing"
            return _report_of(
                why(what, judged, session, catalog), leads_to=lambda row: row.its.candidate
            )

        def go(row: ReportRow | None) -> None:
            if row is not None and below is not None:
                below.dismiss()
            if row is not None:
                self._navigation.jump_to_hash(row.leads_to)

        self._open_report(("why", *hashes), "line", "Reuse", read, go)

    def timeline(self, go: Callable[[ReportRow | None], object]) -> None:
        """Show since when the versions of the package are there."""
        row, term = self._host.where.row, self._host.state.view.query.package_term
        package = row.spec.package if row is not None else term.pattern if term is not None else ""
        if not package:
            self._host.say("Go to a package or a spec first", error=True)
            return

        def read(catalog: Catalog, task: Task) -> Report:
            from spackscope.model.analysis.history import read_history
            from spackscope.model.answers.history import history

            query = Query().with_package(package)
            environ, given = self._host.session.environ, self._host.sources
            histories, failures = read_history(catalog, query, environ, task, given=given)
            return _report_of(replace(history(clean(package), histories), remarks=failures))

        self._open_report(("history", package), "line", "history", read, go)

    # How much is there, whether mirrors agree, and what would break

    def weather(self, go: Callable[[ReportRow | None], object]) -> None:
        """Show how much of the environments or stacks is there, and runs on the host."""

        def read(catalog: Catalog, task: Task) -> Report | str:
            from spackscope.model.analysis.cover import cover, environments
            from spackscope.model.answers.weather import weather

            session, every = self._host.session, environments(catalog)
            hosts = [host_of(session)]
            if not catalog.total:
                return "The sources have no specs"
            if len(every) == len(catalog.sources):
                return self._no_cache()
            # Those that were not read are named above the others.
            failed = {source.name for source in catalog.sources if source.failure}
            names = [name for name in every if name not in failed]
            loaded = zip(names, self._load(catalog, names, task), strict=True)
            coverages = {name: cover(each, catalog, [name]) for name, each in loaded}
            return _report_of(weather(catalog, coverages, hosts, session))

        def follow(row: ReportRow | None) -> None:
            def take(names: Sequence[str]) -> None:
                if row is not None and row.key in names:
                    self._open_coverage(row.key)
                else:
                    go(row)

            self._read_environments(take, "menu")

        self._open_report("weather", "line", "how much is there", read, follow)

    def challenge(self, go: Callable[[ReportRow | None], object]) -> None:
        """Compare what several mirrors have of the specs that are shown."""
        query = self._host.state.view.query

        def read(catalog: Catalog, task: Task) -> Report:
            from spackscope.model.answers.challenge import compare_mirrors
            from spackscope.model.sources.challenge import challenge
            from spackscope.model.sources.mirror_spec import Mirrors

            session = replace(self._host.session, should_stop=task)
            specs = list(catalog.records(catalog.match(query, should_stop=task).ids()))
            mirrors = Mirrors(catalog.sources, session, self._host.sources)

            def show(_: str, done: int, total: int | None) -> None:
                progress = f"{done:,} of {counted(total or 0, 'hash')} compared…"
                if done % _STEP == 0:
                    task.report(lambda: dialog.show_progress(progress))

            return _report_of(compare_mirrors(challenge(specs, mirrors, on_progress=show)))

        key = "challenge", query
        dialog = self._open_report(key, "line", "what mirrors have", read, go)

    def prune(self, go: Callable[[ReportRow | None], object]) -> None:
        """Show what pruning the marked specs would remove and break."""
        marks = self._host.state.marks
        if not marks:
            mark, prune = shown("specs-mark"), shown("prune")
            self._host.say(f"Mark the specs to prune ({mark}), then press {prune}.")
            return

        def read(catalog: Catalog, task: Task) -> Report:
            from spackscope.model.answers.prune import prune

            chosen = _ids_of(marks, catalog)
            return _report_of(prune(catalog, chosen, are_kept=False, should_stop=task))

        self._open_report(("prune", *marks), "line", "", read, go)

    # Frequency

    def count(self) -> None:
        """Count the rows by the column under the cursor, or by one that is chosen."""
        from spackscope.tui.dialogs.frequency import name_picks, names_dialog

        key, _ = under_cursor(self._host)
        if self._host.state.catalog is None:
            self._host.say("there is nothing to count yet", error=True)
        elif key is None and self._host.where.pane == "detail":
            self._host.say("Nothing to count by on this line")
        elif key is None or key.column not in COUNTED:
            dialog = names_dialog("count by", ())
            self._host.open(
                dialog,
                self._count_by,
                ask=lambda: dialog.show_picks(name_picks(self._names_to_count())),
            )
        else:
            self._count_by(key.variant or key.column)

    def _count_by(self, name: str | None) -> None:
        """Count the rows by a column or variant."""
        from spackscope.tui.dialogs.frequency import FrequencyDialog

        if name is None or self._host.state.catalog is None:
            return
        label = BY_NAME[name].label if name in BY_NAME else name
        dialog = FrequencyDialog(name, label, self._names_to_count, self.fill_counts)
        ask = partial(self.fill_counts, dialog)
        self._host.open(dialog, self._filter_by, ask=ask, group="values")

    def fill_counts(self, dialog: FrequencyDialog) -> None:
        """Count the rows by the columns and variants of a dialog, and show the counts in it."""
        catalog, query = self._host.state.catalog, self._host.state.view.query
        if catalog is None:
            return

        def done(counts: Frequency | str) -> None:
            if isinstance(counts, str):
                dialog.show_failure(counts)
            else:
                dialog.show_counts(counts)

        self._host.run(partial(_count, catalog, query, dialog.names), done, group="values")

    def _names_to_count(self) -> list[str]:
        """Return the columns and variants in which the rows differ, those that tell most first."""
        if (results := self._host.state.results) is None:
            return []
        values = results.listing.values
        names = [name for name in COUNTED if name not in values.constants]
        if not results.catalog.by_host.has_host:
            names = [name for name in names if not FIELDS[name].is_by_host]
        ranks = values.varying_variants
        return [*names, *sorted(ranks, key=ranks.__getitem__)]

    def _filter_by(self, chosen: tuple[Chosen, ...] | None) -> None:
        if not chosen or self._host.state.catalog is None:
            return
        query = self._host.state.view.query
        terms = [each.axis.term(each.value) for each in chosen]
        for term in terms:
            query = with_value(query, term)
        sentence = f"Added {' '.join(map(str, terms))} ({shown('undo')} goes back)"
        self._search.choose(query, sentence)


def _report_of(sheet: Sheet[Any], leads_to: Callable[[Any], str] = lambda item: "") -> Report:
    """Return a sheet as one table of a dialog, its groups below their headings."""
    groups: dict[str, list[Any]] = {}
    for item in sheet.rows:
        groups.setdefault(sheet.group(item), []).append(item)
    columns = [c for c in sheet.columns if c.drawn and c.name not in sheet.told]
    rows = [ReportRow((styled(note, "dim"),)) for note in sheet.notes]
    for heading, items in groups.items():
        rows += [ReportRow((styled(heading, "bold"),))] if heading else []
        for item in items:
            cells = [column.line(column.text(column.value(item))) for column in columns]
            query = sheet.query(item)
            key = sheet.hash(item) or text_of(cells[0])
            queries = (query,) if query else ()
            rows.append(ReportRow(cells, key=key, leads_to=leads_to(item), queries=queries))
    used = [n for n in range(len(columns)) if any(len(r.cells) > 1 and r.texts[n] for r in rows)]
    rows = [
        row._replace(cells=[row.cells[n] for n in used]) if len(row.cells) > 1 else row
        for row in rows
    ]
    widths = [
        Column(
            columns[n].label,
            most=60,
            floors=(24, 12),
            keep="start" if columns[n].is_list else "ends",
        )
        for n in used
    ]
    report = Report(sheet.title, [Section("", rows, columns=widths)])
    return _with_failures(report, sheet.remarks)


def _with_failures(report: Report, failures: Sequence[str]) -> Report:
    """Read a report, and put above it what could not be read for it."""
    rows = [ReportRow((styled(text, "error"),)) for text in failures]
    return replace(report, sections=(Section("", rows), *report.sections))


def _pair_text(names: Sequence[str]) -> str:
    """Name two sources, an old and a new one."""
    return " → ".join(map(_source_text, names))


def _source_text(name: str) -> str:
    return shorten_path(clean(name), _MAX_SOURCE)


def _ids_of(
    hashes: Sequence[str], catalog: Catalog, _listing: Listing | None = None
) -> Sequence[int]:
    return [row.id for hash_ in hashes for row in catalog.by_hash(hash_)]


def _look_alikes(catalog: Catalog, listing: Listing | None, row: Row) -> Sequence[int]:
    """Return the look-alikes that are shown, or if it is one only, all in the index."""
    ids = listing.look_alike_ids(row.look_alike) if listing is not None else ()
    return ids if len(ids) > 1 else range(*catalog.span(row.look_alike))


def _reading_look_alikes(hash_: str) -> ReadIds:
    """Return a function that reads the look-alikes of a spec in a catalog.

    Those that a newer catalog tells apart stay among them.
    """
    hashes = [hash_]

    def read(catalog: Catalog, listing: Listing | None) -> Sequence[int]:
        known = _ids_of(hashes, catalog)
        alike = _look_alikes(catalog, listing, catalog.rows(known[:1])[0]) if known else ()
        ids = list(dict.fromkeys([*alike, *known]))
        hashes[:] = dict.fromkeys(row.spec.hash for row in catalog.rows(ids))
        return ids

    return read


def _find(catalog: Catalog, destination: Destination, _should_stop: ShouldStop) -> int | None:
    """Find what a row is about below a spec, where the path to it may be another one."""
    graph, path = dag_of(catalog), destination.path
    start = graph.find([destination.hash]).get(destination.hash)
    if start is None or not path:
        return start
    if (id_ := spec_at(graph, start, path)) is not None:
        return id_
    below = Walker(graph).walk([start], run_only=False).nodes
    return min(below.get(path[-1], ()), default=None)


def _unread(catalog: Catalog) -> list[str]:
    """Return in a line which sources were not read, or not all of them; none if all were."""
    unread = [source for source in catalog.sources if source.failure or source.problems]
    names = [_source_text(source.name) for source in unread]
    if len(unread) > 1:
        return [f"{len(unread):,} sources were not read, or not whole: {', '.join(names)}"]
    return [
        clean(source.failure)
        or f"{name} was not read whole: {counted(source.problems, 'problem')}"
        for source, name in zip(unread, names, strict=True)
    ]


def _progress(done: int, total: int) -> str:
    missing = counted(total, "missing spec")
    return f"comparing {done:,} of {missing} with what is there…" if total else ""


def with_value(query: Query, term: Term) -> Query:
    """Return a query with a condition on a value that its records have.

    It takes the place of other conditions on the column, unless that is a list of values.
    """
    if FIELDS[term.column].is_list:
        return query.also(term)
    return query.without_column(term.column).also(term)


def _count(
    catalog: Catalog, query: Query, names: tuple[str, ...], should_stop: ShouldStop
) -> Frequency | str:
    """Count the records of a query, or return why the records cannot answer."""
    from spackscope.model.analysis.frequency import find_axis, frequency

    try:
        axes = [find_axis(catalog, name, should_stop=should_stop) for name in names]
        known = [axis for axis in axes if axis is not None]
        return frequency(catalog, query, known, should_stop=should_stop)
    except Unanswerable as error:
        return str(error)

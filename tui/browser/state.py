"""The open table, the state that the browser shows, and the place of the user.

The open table is the sheet of an answer, or the specs that match the query, as one more sheet:
most of what differs between the two is an attribute or a method of it. State and place are one
frozen value each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from spackscope.model.assist.offers import Completions, Note, Relaxation
from spackscope.model.core.columns import COLUMNS
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.order import Sort, View
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.parser import ParsedInput, parse_input
from spackscope.model.report.export import spec_sheet
from spackscope.model.report.sheet import ANY_COLUMN, Sheet
from spackscope.model.report.titles import SourceChip, query_counts
from spackscope.tui import keymap
from spackscope.tui.keymap import DEFAULT, first_key, shown
from spackscope.tui.widgets.query_line import Count
from spackscope.tui.widgets.table_head import Patterns
from spackscope.tui.widgets.table_rows import (
    NO_SHEET,
    ColumnState,
    KeyChoice,
    MarkedSpec,
    SheetRows,
    ShownRows,
    TableRows,
    Windows,
)

if TYPE_CHECKING:
    from spackscope.model.analysis.host import Host as Machine
    from spackscope.model.index.catalog import Listing
    from spackscope.model.index.tree import Tree, TreeNode
    from spackscope.model.index.value_counts import SectionKey, ValueSection
    from spackscope.model.report.detail import DetailLine, Members

NO_ROWS = "No rows are shown"
NO_SPEC = "This row is about no spec of these sources"
LOADING = "Still loading: press the key again in a moment"
STALE = "These rows belong to the last valid query: correct the query first"

_SWITCHES = {
    "diff-build-tools": ("build", "without build tools"),
    "diff-equal": ("all", "differing only"),
    "diff-regroup": ("each", "each way"),
}
"""The keys that switch an option of a sheet, each with the option, and its hint while it is on."""
_OF_SHEET = 1_000
"""Lines that a sheet counts besides its own, for the data that it was computed from."""
_OPTIONS = {"hosts": "host"}
"""The options of the shell with another name than their values have."""

_LABELS = {
    "reload": "reload the sources",
    "open": "open another source",
    "sources": "list the sources",
    "dependency-only": "show dependency-only specs",
    "clear": "remove all filters",
    "undo": "go back",
    "quit": "quit",
}
"""Keys that are choices where there are no rows, with their labels."""


def diff_words(hashes: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a command that compares some specs."""
    return tuple(f"/{hash_}" for hash_ in dict.fromkeys(hashes))


class ToCompare(NamedTuple):
    """The hashes of specs to compare, some of which may be marked; none: the row's look-alikes."""

    hashes: Sequence[str] = ()
    are_marked: bool = False


class OpenTable(Frozen):
    """The open table, with the sort, filters and hidden columns of the user.

    This one is an answer; `SpecsTable` is the specs.
    """

    # The command that prints the answer; without a name the table has the specs.
    name: str = ""
    words: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    names_sources: bool = False
    """Whether its words name all of its sources."""
    label: str = ""
    """What it is, in words."""

    # What was read.
    catalog: Catalog | None = None
    """The catalog that was asked; None while it is asked."""
    sheet: Sheet[Any] = NO_SHEET
    text: str = ""
    """The progress while there are no rows, or why there are none."""
    is_part: bool = False
    """Whether further rows are being read."""

    # How the user arranged it.
    sort: Sort | None = None
    filters: Mapping[str, str] = field(default_factory=dict)
    """Patterns by the names of columns."""
    hidden: frozenset[str] = frozenset()
    cursor: int = 0
    """The row to put the cursor on."""
    column: str = ""
    """The column to put the cursor on."""

    choose: Callable[[Any], object] | None = None
    """Handles a chosen row; None: its specs are shown."""
    choose_hint: str = "go to it"
    """The hint of the key that chooses a row."""

    @property
    def title(self) -> str:
        """The words that are shown in place of the query."""
        searched = self.filters.get(ANY_COLUMN, "").strip()
        return f"{self.label or self.name}{f' · with {searched}' if searched else ''}"

    @property
    def module(self) -> Any:
        """The module of an answer, imported when it is first needed."""
        return import_module(f"spackscope.model.answers.{self.name}")

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the command that prints an answer, without its sources."""
        words = [self.name]
        for name, value in self.options.items():
            values = value if isinstance(value, tuple) else (value,)
            option = f"--{_OPTIONS.get(name, name)}"
            for each in filter(None, values):
                words += [option] if each is True else [option, each]
        return (*words, *self.words)

    @property
    def asked(self) -> tuple[str, ...]:
        """The name and the words of the command, without options."""
        return (self.name, *self.words)

    @property
    def is_read(self) -> bool:
        """Whether the answer was read."""
        return self.sheet is not NO_SHEET

    @property
    def is_reading(self) -> bool:
        """Whether the rows are being read, for the first time or again."""
        return self.catalog is None

    @cached_property
    def shown(self) -> Sheet[Any]:
        """The sheet with the rows that match the filters, sorted.

        Filters and a sort on columns that the sheet no longer draws have no effect.
        """
        sheet = self.sheet
        names = {column.name for column in sheet.columns if column.drawn}
        for name, pattern in self.filters.items():
            if name in names or name == ANY_COLUMN:
                sheet = sheet.filtered(name, pattern)
        if self.sort is not None and self.sort.column in names:
            descending = "-" if self.sort.descending else ""
            sheet = sheet.sorted(f"{descending}{self.sort.column}")
        return sheet

    @property
    def help(self) -> Mapping[str, str]:
        """The sentences of keys by name, where they do something else; empty for useless ones."""
        name = "diff-sources" if self.names_sources else self.name
        return {
            name: DEFAULT[name].sentence,
            "query": "Search the rows in all columns.",
            "specs-open": f"{self.choose_hint.capitalize()}.",
            "undo": "Go back to where the answer was opened.",
            **(
                {"diff": "Go back to where the comparison was opened."}
                if self.sheet.switches
                else {}
            ),
            **dict.fromkeys(("fold", "values", *self._useless_switches), ""),
        }

    @property
    def meanings(self) -> Mapping[str, str]:
        """What a row is, and what each column means, by its head."""
        columns = [each for each in self.sheet.columns if each.drawn]
        heads = {
            "a hash" if each.hash else clean(each.label or each.name): each.meaning
            for each in columns
        }
        return {"a row": self.sheet.row, **heads} if heads else {}

    @property
    def lines(self) -> int:
        """The number of lines that the table keeps in memory."""
        return len(self.sheet.rows) + _OF_SHEET * (self.catalog is not None)

    def changed(self, **fields: Any) -> OpenTable:
        """Return the table with other fields."""
        return replace(self, **fields)

    def unread(self) -> OpenTable:
        """Return the table without its rows, to be read again."""
        return self.changed(catalog=None, sheet=NO_SHEET)

    def rows(self, before: ShownRows, specs: ShownRows) -> ShownRows:
        """Return the rows to show; if the answer was read again, the cursor keeps its column."""
        is_again = before.asked == self.asked and bool(before.columns.columns.all)
        columns = before.columns if is_again else ColumnState(self.column)
        columns.hidden, columns.filters = self.hidden, Patterns(self.filters)
        empty = self.text or ("No row matches" if self.filters else "No rows")
        rows = SheetRows(self.sheet, self.shown, self.sort, columns, empty)
        rows.name, rows.asked, rows.cursor = self.name, self.asked, rows.line(self.cursor)
        return rows

    def why_not_shown(self, state: BrowserState) -> str:
        """Return why keys cannot work on the rows, or an empty text if they can."""
        if self.is_read:
            return "" if self.shown.rows else NO_ROWS
        # The sheet is being read, or has no answer.
        return NO_ROWS if self.catalog is state.catalog else LOADING

    def acts_on(self, spec: MarkedSpec, state: BrowserState) -> bool:
        """Check whether keys act on a marked spec: in an answer on all."""
        return True

    def beside(self, item: Any) -> str:
        """Return the hash that a row is compared with, if it names one."""
        return self.sheet.beside(item) if item is not None else ""

    def of_several(self, item: Any) -> str:
        """Return of how many builds a row shows one: a remark for a message, or empty."""
        count, package = self.sheet.builds(item) if item is not None else (1, "")
        return f", the first of {count:,} builds of {clean(package)}" if count > 1 else ""

    def total(self, state: BrowserState) -> int:
        """Return the number of rows."""
        return len(self.shown.rows)

    def sheet_of(
        self, catalog: Catalog, view: View, only: Sequence[MarkedSpec] = ()
    ) -> Sheet[Any]:
        """Return the rows, or the rows of `only` some specs."""
        wanted, sheet = {spec.hash for spec in only}, self.shown
        rows = [row for row in sheet.items() if sheet.hash(row) in wanted]
        return replace(sheet, rows=rows) if only else sheet

    def count(self, state: BrowserState) -> Count:
        """Return the number of rows, and of those that match the filters."""
        total = len(self.sheet.rows)
        of = f"{len(self.shown.rows):,} of " if self.filters else ""
        return Count([f"{of}{counted(total, 'row')}" if total else ""])

    def hint_words(self, state: BrowserState, rows: TableRows) -> Iterator[tuple[str, str]]:
        """Yield keys by name, and the words of their hints for the row under the cursor."""
        yield "specs-open", self.choose_hint
        yield "query", "search"
        yield from (
            (name, word) for name, (option, word) in _SWITCHES.items() if self.options.get(option)
        )

    @property
    def _useless_switches(self) -> list[str]:
        return [
            name for name, (option, _) in _SWITCHES.items() if option not in self.sheet.switches
        ]

    def useless_keys(self, rows: TableRows, marks: int) -> Iterator[str]:
        """Yield the names of keys that do nothing with the row under the cursor."""
        yield from ("fold", "values", *self._useless_switches)
        if rows.item is None:
            yield "specs-open"
        if not rows.shown.columns.columns.names:
            yield from ("filter", "query")
        if not rows.length:
            yield "export"
        if not rows.has_spec:
            yield from ("specs-mark", "tree")
        if not (rows.has_spec or marks):
            yield "copy"


class SpecsTable(OpenTable):
    """The specs that match the query, whose view and rows are in the state."""

    @property
    def is_reading(self) -> bool:
        """Whether the rows are being read, in place of other rows."""
        return False

    @property
    def help(self) -> Mapping[str, str]:
        """The sentences of keys by name, where they do something else."""
        return {}

    @property
    def meanings(self) -> Mapping[str, str]:
        """What a row is, and what columns mean by their heads, but for those among the words."""
        columns = [each for each in COLUMNS if each.shown == "always"]
        return {
            "a row": "builds that are equal in all columns and variants, with their number",
            **{each.label: each.meaning for each in columns},
            "used": "how many builds here depend on it",
        }

    def changed(self, **fields: Any) -> OpenTable:
        """Return the specs as they are: their fields are in the state."""
        return self

    def rows(self, before: ShownRows, specs: ShownRows) -> ShownRows:
        """Return the rows to show after others; `specs` are the rows of the specs."""
        return specs

    def why_not_shown(self, state: BrowserState) -> str:
        """Return why keys cannot work on the rows, or an empty text if they can."""
        if state.results is None:
            return LOADING
        if state.draft is not None and state.draft.is_wrong:
            return STALE
        if not state.is_shown:
            return STALE if state.is_refused else LOADING
        return "" if state.listing else NO_ROWS

    def acts_on(self, spec: MarkedSpec, state: BrowserState) -> bool:
        """Check whether keys act on a marked spec: on one among the rows."""
        return spec.is_in(state.listing)

    def total(self, state: BrowserState) -> int:
        """Return the number of rows, unfolded."""
        return state.listing.shown if state.listing is not None else 0

    def sheet_of(
        self, catalog: Catalog, view: View, only: Sequence[MarkedSpec] = ()
    ) -> Sheet[Any]:
        """Return the rows, or the rows of `only` some specs, unfolded: for a worker thread.

        Raises Cancelled.
        """
        ids = catalog.listing(replace(view.closed(), folded=False)).ids
        if only:
            wanted = {id_ for spec in only for id_ in spec.ids}
            ids = [id_ for id_ in ids if id_ in wanted]
        return spec_sheet(catalog, ids)

    def count(self, state: BrowserState) -> Count:
        """Return the number of shown specs, and of all specs, or why they are not counted."""
        results, summary, draft = state.results, state.summary, state.draft
        if results is None or summary is None:
            return Count()
        if state.stale:
            is_filter = draft is not None and bool(draft.parsed.column)
            note = draft.note if draft is not None and is_filter else None
            return Count([state.stale], note.sentence if note else "")
        selected = results.selected
        total = selected.total if selected is not None else summary.total
        package = selected.name if selected is not None else None
        packages = len([each for each in results.packages if each.shown])
        counts = query_counts(results.listing.shown, total, package, packages)
        so_far = " so far" if summary.catalog.part else ""
        return Count([f"{count}{so_far}" for count in counts])

    def hint_words(self, state: BrowserState, rows: TableRows) -> Iterator[tuple[str, str]]:
        """Yield keys by name, and the words of their hints for the row under the cursor."""
        row, marks = rows.row, len(state.marks)
        if rows.shown.choices:
            yield "specs-open", "take it"
            return
        if state.view.folded:
            yield "fold", "open all"
        if row is not None and state.is_pick:
            one_of = "one" if row.has_look_alikes else "any"
            of_row = f"pick {one_of} of {row.count:,}" if row.count > 1 else "pick"
            yield "specs-open", f"pick {marks:,} marked" if marks else of_row
            if row.is_closed:
                yield "specs-right", "open"
        elif row is not None and row.count > 1:
            yield "specs-open", "close" if row.is_open else "open"

    def useless_keys(self, rows: TableRows, marks: int) -> Iterator[str]:
        """Yield the names of keys that do nothing with the row under the cursor."""
        if rows.shown.choices:
            yield from ("specs-mark", "tree", "copy", "export", "fold")


SPECS = SpecsTable()


def _choice(name: str, count: int | None = None) -> KeyChoice:
    return KeyChoice(_LABELS[name], first_key(name), shown(name), count)


def without_catalog() -> list[KeyChoice]:
    """Return the choices if no source can be read, or loading was stopped."""
    return [_choice("reload"), _choice("open"), _choice("quit")]


def without_rows(state: BrowserState, summary: Summary, listing: Listing) -> list[KeyChoice]:
    """Return the choices if no spec and no relaxation matches, or there are no specs."""
    if summary.total and listing.view.query:
        undo = [_choice("undo")] if state.can_undo_next else []
        return [_choice("clear", summary.total), *undo]
    sources = _choice("sources", len(summary.chips))
    return [_choice("reload"), sources, _choice("dependency-only"), _choice("quit")]


QUERY = "query"
"""The name of the query line; the name of a filter is its column."""
NO_COMPLETIONS = Completions(0, 0)
FIRST_VIEW = View(best_first=True, folded=True)
"""The view that the browser begins with."""


class Summary(Frozen):
    """A catalog and its summary for the title, read in a worker thread.

    `chips` are the sources, `remark` is more text of the title, and `notice` a message. `packages`
    are all packages of the catalog, and `names` their names. `is_part` if more is being read now.
    """

    catalog: Catalog
    chips: tuple[SourceChip, ...]
    remark: str
    total: int
    problems: int
    notice: str
    packages: Sequence[PackageCount]
    names: frozenset[str]
    is_part: bool = False


class Results(Frozen):
    """The answer to a view: its packages and rows.

    `selected` is the package that the query names, `shared` are the texts that all rows have in
    common, by column. `explanation` says why there are no rows, and `relaxations` are queries that
    would match instead. `virtuals` says which packages provide a virtual package of the query, and
    `hidden` how many specs the conditions on the host hide, and why. `cursor` is the row to put
    the cursor on, and `windows` the rows around it.
    """

    listing: Listing
    packages: Sequence[PackageCount]
    selected: PackageCount | None = None
    shared: Sequence[tuple[str, str]] = ()
    explanation: str = ""
    relaxations: Sequence[Relaxation] = ()
    virtuals: str = ""
    hidden: str = ""
    cursor: int = 0
    windows: Windows = field(default_factory=dict)

    @property
    def catalog(self) -> Catalog:
        """The catalog that was asked."""
        return self.listing.catalog


class WithoutRows(NamedTuple):
    """The text and the choices in place of rows while no source is read."""

    text: str = ""
    choices: Sequence[KeyChoice] = ()


class Refusal(Frozen):
    """A view that leaves the rows as they are, and its error.

    `note` is None if a word is only not typed to its end. `is_unanswerable` says that the records
    cannot decide it at all. `completions` are None if they were not looked for.
    """

    note: Note | None
    is_unanswerable: bool = False
    completions: Completions | None = None


class Draft(Frozen):
    """A text that is being typed in the query line or in a filter.

    `is_wrong` is True if it is not a query, or one that the records cannot answer, and `note` says
    why. `completions` are None until they are known; `insists` shows the note even where a
    completion would finish the word. `replaces` is the text that the input still shows, if
    another one takes its place.
    """

    parsed: ParsedInput
    note: Note | None = None
    is_wrong: bool = False
    completions: Completions | None = NO_COMPLETIONS
    insists: bool = False
    replaces: str = ""

    @property
    def input(self) -> str:
        """The name of the input."""
        return self.parsed.column or QUERY


class Related(NamedTuple):
    """The lines on how a spec relates to others, and how its tree differs from a marked spec.

    `differing` maps each differing record of the tree to the text of its counterpart in the marked
    spec, "" if only dependencies of the record differ.
    """

    lines: Sequence[DetailLine] = ()
    differing: Mapping[int, str] = MappingProxyType({})


class MirrorAnswer(NamedTuple):
    """The size of the archive of a spec, if a mirror has it, and the lines on its signature."""

    size: float | None = None
    lines: Sequence[DetailLine] = ()


class DetailInputs(NamedTuple):
    """All inputs of the lines of a row: lines of equal inputs are not read twice.

    `alike` counts the shown look-alikes; `shown` counts all shown specs if there are look-alikes,
    and else is 0. `varying` ranks the variants that vary within the package. `mark` is the hash of
    a marked spec to compare with, and `answer` comes from the mirrors.
    """

    row: Row
    has_host: bool
    alike: int
    shown: int
    varying: Mapping[str, int]
    mark: str | None
    answer: MirrorAnswer | None


class Details(Frozen):
    """The selected spec: a row of the table, or a spec that has none.

    The lines of the last spec stay on the screen while this one `is_pending`. The `related` lines
    follow its own. `shows_tree` if the tree is shown in place of the lines. `at` puts the cursor
    on a line, and another line at the top.
    """

    row: Row
    lines: Sequence[DetailLine] = ()
    tree: Tree | None = None
    related: Related = Related()
    members: Members | None = None
    shows_tree: bool = False
    at: tuple[int, int] | None = None

    @property
    def is_pending(self) -> bool:
        """Whether nothing of the spec is read yet."""
        return not self.lines


class CountedValues(Frozen):
    """The values of the rows of a query in sections, or a note on why there are none.

    `place` puts the cursor on a value, whose section is counted in any case; keys wait while it
    `is_awaited`.
    """

    catalog: Catalog | None = None
    query: Query | None = None
    sections: tuple[ValueSection, ...] = ()
    note: str = "counting…"
    place: tuple[SectionKey, str | None] | None = None
    is_awaited: bool = False


class BrowserState(Frozen):
    """The state that the browser shows.

    All ids and numbers belong to one catalog, the catalog of the rows. A newer catalog is in the
    `summary` alone until its rows are read, and all fields are replaced at once.
    """

    # The specs.
    summary: Summary | None = None
    view: View = FIRST_VIEW
    results: Results | None = None
    """The rows of `view`, unless they are still to be read, or it is refused."""
    refused: View | None = None
    """The view if it was typed and has no rows: it leaves the rows as they are."""
    missing: WithoutRows = WithoutRows()
    stale: str = ""
    """The count to show while the rows belong to an older query, or "".

    `0` if the typed query has no rows, `?` if the text has an error.
    """
    draft: Draft | None = None
    hidden_columns: frozenset[str] = frozenset()
    values: CountedValues = CountedValues()

    # The spec under the cursor.
    details: Details | None = None
    connected: Catalog | None = None
    """The catalog whose edges have been read, so that trees can be shown."""
    machine: Machine | None = None
    """The host that specs are to run on."""

    marks: tuple[str, ...] = ()
    """The hashes of marked specs."""
    marked: tuple[MarkedSpec, ...] = ()
    """Their specs in the catalog."""

    table: OpenTable = SPECS
    """The open table: the specs, or an answer in their place."""
    step: int = -1
    """The number of the shown step of `Navigation`, from 0; before the first it is -1."""

    is_pick: bool = False
    """Whether Enter picks the hash that a row shows, and ends the program."""
    purpose: str = ""
    """What it is picked for, which the title says."""
    is_sample: bool = False
    """Whether the sources are the sample: then the title names the key that opens others."""

    @property
    def catalog(self) -> Catalog | None:
        """The catalog of the shown rows; None until one is loaded."""
        return self.results.catalog if self.results is not None else self.newest

    @property
    def newest(self) -> Catalog | None:
        """The catalog that was loaded last, which answers the next view."""
        return self.summary.catalog if self.summary is not None else None

    @property
    def package_names(self) -> frozenset[str]:
        """The packages that a word may name; none until a catalog is loaded."""
        return self.summary.names if self.summary is not None else frozenset()

    @property
    def is_shown(self) -> bool:
        """Whether the rows belong to the current view."""
        return self.results is not None and self.results.listing.view is self.view

    @property
    def is_refused(self) -> bool:
        """Whether the view was typed and has no rows to show."""
        return self.refused is self.view

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to go back to."""
        return self.step > 0

    @property
    def can_undo_next(self) -> bool:
        """Whether there will be a step to go back to from the view that is shown next."""
        return self.step >= 0

    @property
    def marks_in_sight(self) -> list[MarkedSpec]:
        """The marked specs that keys act on: in a sheet all, else those among the rows."""
        return [spec for spec in self.marked if self.table.acts_on(spec, self)]

    def to_compare(self, item: Any) -> ToCompare | None:
        """Return the specs to compare; None without any, or where these are compared already.

        `item` is the row of a sheet under the cursor.
        """
        table, marks, row = self.table, self.marks, self.selected
        if len(marks) >= 2:
            is_open = table.asked == ("diff", *diff_words(marks))
            return None if is_open else ToCompare(marks, are_marked=True)
        if table.sheet.switches or row is None:
            return None
        hash_ = row.spec.hash
        if row.count == 1 and not {hash_}.issuperset(marks):
            return ToCompare((*marks, hash_), are_marked=True)
        if beside := table.beside(item):
            return ToCompare((hash_, beside))
        return ToCompare() if len(range(*row.catalog.span(row.look_alike))) > 1 else None

    def why_no_spec(self, where: Where) -> str:
        """Return why no spec is under the cursor."""
        return self.table.why_not_shown(self) or (LOADING if where.is_waiting else NO_SPEC)

    def opening_key(self, row: Row) -> str:
        """Return the key that opens or closes a row of several, as it is shown."""
        if not self.is_pick:
            return shown("specs-open")
        return shown("specs-left" if row.is_open else "specs-right")

    @property
    def selected(self) -> Row | None:
        """The row of the selected spec."""
        return self.details.row if self.details is not None else None

    @property
    def listing(self) -> Listing | None:
        """The rows on the screen."""
        return self.results.listing if self.results is not None else None


class Where(Frozen):
    """The place of the user on the screen.

    `pane` is the pane with the focus, or `query`, and `input` the name of the input with the
    focus. `key_panes` are the parts of the table of keys that work now. `row` is the row of the
    table under the cursor, or the row of the spec that a sheet row is about; None while it
    `is_waiting` to be read. `is_row_seen` if the row, or in the detail the line with the cursor,
    is on the screen; `are_marks_seen` if the line that names the marked specs is. `item` is the
    row of the sheet with the number `sheet_cursor`, and `column` the column of the table under the
    cursor. In the detail `position` are the line with the cursor and the line at the top, `term`
    is the filter of the line with the cursor, and `node` is the node of the tree in it. `line` is
    the parsed text of the query line, and `value` the section and the value under the cursor of
    the side column.
    """

    pane: str = keymap.SPECS
    input: str | None = None
    key_panes: tuple[str, ...] = (keymap.SPECS, keymap.LISTS, keymap.ANYWHERE)
    row: Row | None = None
    is_waiting: bool = False
    is_row_seen: bool = True
    are_marks_seen: bool = True
    item: Any = None
    sheet_cursor: int = 0
    column: str = "hash"
    position: tuple[int, int] = (0, 0)
    term: Term | None = None
    node: TreeNode | None = None
    line: ParsedInput = field(default_factory=lambda: parse_input("", 0))
    value: tuple[SectionKey, str | None] | None = None

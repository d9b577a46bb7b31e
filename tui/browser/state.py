"""The state that the browser shows, and the place of the user, each as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from spackscope.model.assist.answers import Completions, Note, Relaxation
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import PackageCount, Row
from spackscope.model.index.view import Order, View
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.parser import ParsedInput, parse_input
from spackscope.model.report.titles import SourceChip
from spackscope.tui import keymap
from spackscope.tui.browser.tables import SPECS, OpenTable
from spackscope.tui.keymap import shown
from spackscope.tui.widgets.spec_rows import Windows

if TYPE_CHECKING:
    from spackscope.model.analysis.host import Host as Machine
    from spackscope.model.index.listing import Listing, MarkedSpec
    from spackscope.model.index.tree import Tree, TreeNode
    from spackscope.model.index.value_counts import SectionKey, ValueSection
    from spackscope.model.report.detail import DetailLine, Members
    from spackscope.tui.widgets.table_rows import KeyChoice

QUERY = "query"
"""The name of the query line; the name of a filter is its column."""
NO_COMPLETIONS = Completions(0, 0)
FIRST_VIEW = View(order=Order.PREFERRED_HERE, folded=True)
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


class Details(Frozen):
    """The selected spec: a row of the table, or a spec that has none.

    `lines` and `members` belong to the last spec while `is_pending`. The `related` lines are read
    after them. `shows_tree` if the tree is shown in place of the lines. `at` puts the cursor on a
    line, and another line at the top. With `awaits_relations` the lines wait for the relations, to
    be shown together.
    """

    row: Row
    lines: Sequence[DetailLine] = ()
    tree: Tree | None = None
    related: Related = Related()
    members: Members | None = None
    shows_tree: bool = False
    at: tuple[int, int] | None = None
    is_pending: bool = False
    awaits_relations: bool = False


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

    `results` belong to `view`, unless they are still to be read, or the view is `refused`: it was
    typed, has no rows yet, and leaves the rows as they are. `marks` are hashes, and `marked` their
    specs in the catalog. `stale` is empty, or the count to show while the rows belong to an older
    query: `0` if the typed query has no rows, `?` if the text has an error. `connected` is the
    catalog whose edges have been read, so that trees can be shown. `machine` is the host that
    specs are to run on. The `table` is the open one: the specs, or an answer in their place.
    `step` is the number of the shown step of `Navigation`, from 0; before the first it is -1.
    With `is_pick`, Enter picks the hash that a row shows, and ends the program; the title says
    what it is picked for, the `purpose`. If the sources are the sample, which `is_sample` says,
    the title names the key that opens others.

    All ids and numbers belong to one catalog, the catalog of the rows. A newer catalog is in the
    `summary` alone until its rows are read, and all fields are replaced at once.
    """

    summary: Summary | None = None
    view: View = FIRST_VIEW
    results: Results | None = None
    missing: WithoutRows = WithoutRows()
    refused: View | None = None
    stale: str = ""
    draft: Draft | None = None
    details: Details | None = None
    marks: tuple[str, ...] = ()
    marked: tuple[MarkedSpec, ...] = ()
    connected: Catalog | None = None
    machine: Machine | None = None
    hidden_columns: frozenset[str] = frozenset()
    values: CountedValues | None = None
    table: OpenTable = SPECS
    step: int = -1
    is_pick: bool = False
    purpose: str = ""
    is_sample: bool = False

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
    is the filter of the line with the cursor, and `node` is the node of the line `tree_row` of the
    tree. `line` is the parsed text of the query line, and `value` the section and the value under
    the cursor of the side column.
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
    tree_row: int | None = None
    node: TreeNode | None = None
    line: ParsedInput = field(default_factory=lambda: parse_input("", 0))
    value: tuple[SectionKey, str | None] | None = None

"""The one table of keys: bindings, hints, help and docs/reference/keys.md are made from it."""

from __future__ import annotations

from spackscope.model.core.frozen import Frozen
from spackscope.tui.keymap.names import shown_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from textual.binding import BindingType

ANYWHERE, LISTS, PACKAGES, SPECS = "anywhere", "lists", "packages", "specs"
DETAIL, TREE, FACETS, FILTERS = "detail", "tree", "facets", "filters"
COMPARE, RELAXATIONS, FREQUENCY = "compare", "relaxations", "frequency"
COVERAGE, COPYING, PATH = "coverage", "copying", "path"
EXPORTING = "exporting"
SEARCHED, REPORTS, DIALOGS = "searched", "reports", "dialogs"
HISTORY = "history"


class Key(Frozen):
    """One thing that keys do.

    `where` is the pane that must have the focus, `name` what the configuration calls it, which
    stays the same from release to release; `keys` are Textual's names of the keys, separated by
    commas, and empty for none. `hint` is the word in the status line, if any; a key that works
    anywhere may have one only while some panes have the focus, `hinted_in`; those of a higher
    `rank` come later. A key that `moves` only moves a cursor, so that many can be handled at once.
    The actions of keys that work anywhere are in the table of tui/browser/actions.py, others
    methods of the focused widget.
    """

    where: str
    name: str
    keys: str
    action: str
    sentence: str
    hint: str = ""
    hinted_in: tuple[str, ...] = ()
    moves: bool = False
    rank: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Textual's names of the keys."""
        return tuple(filter(None, self.keys.split(",")))

    @property
    def shown(self) -> str:
        """The keys as they are shown, separated by blanks; empty for none."""
        return " ".join(dict.fromkeys(map(shown_key, self.names)))

    @property
    def textual_action(self) -> str:
        """The action as Textual runs it; the browser has one for the keys that work anywhere."""
        if self.where != ANYWHERE or self.action.startswith("app."):
            return self.action
        return f"browse('{self.action}')"


_ROWS = (SPECS, DETAIL, TREE)
"""The panes in which a spec is under the cursor."""

KEYS = (
    Key(ANYWHERE, "copy", "y", "copy_hash",
        "Copy the hash of the row or of marked rows.", "copy", _ROWS),
    Key(ANYWHERE, "copy-as", "Y", "copy_menu",
        "Copy in another form: install command, JSON, the view as a command line."),
    Key(ANYWHERE, "address", "o", "copy_address",
        "Copy the address of the record on cache.spack.io."),
    Key(ANYWHERE, "export", "e", "export",
        "Write the shown or marked rows to a file.", "write", (SPECS,), rank=2),
    Key(ANYWHERE, "mark-all", "A", "mark_all",
        "Mark all shown, in an opened row its builds; again: unmark."),
    Key(ANYWHERE, "unmark", "U", "unmark", "Clear all marks."),
    Key(ANYWHERE, "compare", "d", "compare",
        "Compare the marked rows, or look-alikes.", "compare", _ROWS),
    Key(ANYWHERE, "tree", "t", "dependencies",
        "Show the tree of dependencies.", "tree", _ROWS, rank=1),
    Key(ANYWHERE, "users", "u", "dependents",
        "Show the users: what depends on it.", "users", (TREE,), rank=1),
    Key(ANYWHERE, "why", "w", "why", "Show why: the path to the dependency or the marked spec."),
    Key(ANYWHERE, "fold", "z", "fold",
        "Fold look-alikes; on a folded row: open it; again: unfold all.", "fold", (SPECS,)),
    Key(ANYWHERE, "facets", "v", "facets",
        "Go to the facet of the column; again: back.", "facets"),
    Key(ANYWHERE, "query", "slash", "focus_query", "Type a query.", "query"),
    Key(ANYWHERE, "history", "ctrl+r", "history",
        "Search the queries that were used, and take one."),
    Key(ANYWHERE, "filter", "f", "focus_filter",
        "Type a filter for the column or the list.", "filter", rank=2),
    Key(ANYWHERE, "clear", "X", "clear_query", "Remove all filters."),
    Key(ANYWHERE, "undo", "backspace,left_square_bracket,b", "undo",
        "Undo: back to the view or jump before.", "undo"),
    Key(ANYWHERE, "redo", "right_square_bracket", "redo", "Redo: forward again."),
    Key(ANYWHERE, "help", "question_mark", "show_help",
        "Show the keys, and run one.", "help", rank=9),
    Key(ANYWHERE, "commands", "colon", "app.command_palette", "Find a command by its name."),
    Key(ANYWHERE, "sort", "s", "sort", "Sort: ascending, descending, off."),
    Key(ANYWHERE, "count", "F", "frequency", "Count the rows by the column, or by two of them."),
    Key(ANYWHERE, "cover", "C", "cover", "Show what the caches have of an environment."),
    Key(ANYWHERE, "next-pane", "tab", "next_pane", "Go to the next pane or filter."),
    Key(ANYWHERE, "previous-pane", "shift+tab", "previous_pane",
        "Go to the previous pane or filter."),
    Key(ANYWHERE, "packages", "1", "focus_packages", "Go to the packages."),
    Key(ANYWHERE, "specs", "2", "focus_specs", "Go to the specs."),
    Key(ANYWHERE, "detail", "3", "focus_detail",
        "Go to the detail; again: give it the whole screen."),
    Key(ANYWHERE, "zoom", "plus", "zoom", "Give the pane the whole screen, or give it back."),
    Key(ANYWHERE, "back", "escape", "back", "Go one step back."),
    Key(ANYWHERE, "problems", "exclamation_mark", "show_problems", "List what could not be read."),
    Key(ANYWHERE, "sources", "S", "show_sources", "List the sources: kind, specs, problems, age."),
    Key(ANYWHERE, "dependency-only", "a", "everything", "Show or hide dependency-only specs."),
    Key(ANYWHERE, "reload", "r", "reload", "Reload changed sources."),
    Key(ANYWHERE, "redraw", "ctrl+l", "app.draw_again", "Draw the screen again."),
    Key(ANYWHERE, "suspend", "ctrl+z", "app.suspend_process", "Go to the shell; `fg` comes back."),
    Key(ANYWHERE, "quit", "q", "leave", "Quit.", "quit", rank=3),
    Key(LISTS, "lists-down", "j,down", "move(1)", "Go one row down.", moves=True),
    Key(LISTS, "lists-up", "k,up", "move(-1)", "Go one row up.", moves=True),
    Key(LISTS, "lists-page-down", "ctrl+d,pagedown", "page(1)", "Go one page down.", moves=True),
    Key(LISTS, "lists-page-up", "ctrl+u,pageup", "page(-1)", "Go one page up.", moves=True),
    Key(LISTS, "lists-first", "g,home", "move_to(0)", "Go to the first row.", moves=True),
    Key(LISTS, "lists-last", "G,end", "move_to(-1)", "Go to the last row.", moves=True),
    Key(PACKAGES, "packages-open", "enter,l,right", "choose",
        "Go to the specs of the package.", "open"),
    Key(SPECS, "specs-open", "enter", "choose",
        "Open a folded row or a kind, or go to the detail.", "detail"),
    Key(SPECS, "specs-mark", "space", "mark",
        "Mark or unmark the row, and go down.", "mark", rank=1),
    Key(SPECS, "specs-mark-range", "V,ctrl+@,ctrl+space", "mark_range",
        "Mark a range: from the row marked last, else from here."),
    Key(SPECS, "specs-left", "h,left", "column(-1)",
        "Go left, then to what is the same in all; or close the group.", moves=True),
    Key(SPECS, "specs-right", "l,right", "column(1)", "Go one column to the right.", moves=True),
    Key(SPECS, "specs-hide-column", "minus", "hide_column", "Hide the column."),
    Key(SPECS, "specs-narrower", "less_than_sign", "resize_column(-1)",
        "Make the column narrower."),
    Key(SPECS, "specs-wider", "greater_than_sign", "resize_column(1)", "Make the column wider."),
    Key(SPECS, "specs-columns", "c", "list_columns",
        "List the columns: go to one, or bring it back."),
    Key(DETAIL, "detail-choose", "enter", "choose",
        "Filter by the value, or go to the spec.", "choose"),
    Key(DETAIL, "detail-right", "l,right", "step(1)", "Go to the next value.", moves=True),
    Key(DETAIL, "detail-left", "h,left", "step(-1)",
        "Go to the value before, or back to the specs."),
    Key(TREE, "tree-choose", "enter", "choose",
        "Go to the spec; on a head: unfold or fold.", "go to it"),
    Key(TREE, "tree-unfold", "right,l", "unfold",
        "Unfold, or go to where it is unfolded.", "unfold"),
    Key(TREE, "tree-fold", "left,h", "fold", "Fold, or go to the parent line.", "fold"),
    Key(TREE, "tree-search", "slash,f", "search",
        "Find names: only these lines are shown.", "find"),
    Key(TREE, "tree-fold-all", "z", "fold_all", "Unfold everything, or fold it again.", "all"),
    Key(TREE, "tree-build-tools", "b", "run_only",
        "Show or hide what is only built with.", "build tools"),
    Key(TREE, "tree-close", "escape", "close", "Remove the search, or close the tree.", "back"),
    Key(FACETS, "facets-include", "space", "include",
        "Include the value, or stop including it.", "include"),
    Key(FACETS, "facets-exclude", "x", "exclude",
        "Exclude the value, or stop excluding it.", "exclude"),
    Key(FACETS, "facets-only", "enter", "only",
        "Include only this value, and go to the rows.", "only this"),
    Key(FACETS, "facets-clear", "u", "clear", "Remove the filters of the section.", "clear"),
    Key(FACETS, "facets-filter", "slash,f", "focus_filter",
        "Type a filter for the values.", "filter"),
    Key(FACETS, "facets-close", "escape", "leave", "Close the filter, or go to the rows.", "back"),
    Key(FREQUENCY, "frequency-choose", "enter", "take",
        "Filter by the value, or by both of the cell.", "filter"),
    Key(FREQUENCY, "frequency-by", "x", "by",
        "Count by a second column or variant too.", "by another"),
    Key(FREQUENCY, "frequency-left", "h,left", "column(-1)",
        "Go one column to the left.", moves=True),
    Key(FREQUENCY, "frequency-right", "l,right", "column(1)",
        "Go one column to the right.", moves=True),
    Key(FREQUENCY, "frequency-filter", "slash,f", "focus_filter",
        "Type a filter for the values.", "filter"),
    Key(COMPARE, "compare-choose", "enter", "take", "Go to the spec in this column.", "go to it"),
    Key(COMPARE, "compare-build-tools", "b", "build",
        "Show or hide build-only packages.", "build tools"),
    Key(COMPARE, "compare-equal", "equals_sign", "equal",
        "Show or hide what is equal.", "equal too"),
    Key(COMPARE, "compare-copy", "y", "copy", "Copy the hash of the column.", "copy"),
    Key(COMPARE, "compare-close", "escape,q,d", "close", "Go back to the rows.", "back"),
    Key(COMPARE, "compare-regroup", "z", "regroup",
        "One column for each hash, or for each kind.", "each hash"),
    Key(COMPARE, "compare-left", "left,h", "column(-1)", "Go one column to the left.", moves=True),
    Key(COMPARE, "compare-right", "right,l", "column(1)",
        "Go one column to the right.", moves=True),
    Key(COVERAGE, "coverage-choose", "enter", "take",
        "Go to the nearest; on a reason: only these.", "go to it"),
    Key(COVERAGE, "coverage-copy", "y", "copy",
        "Copy the hashes of what is missing and shown.", "copy"),
    Key(COVERAGE, "coverage-compare", "d", "compare",
        "Compare the missing spec with the nearest.", "compare"),
    Key(COVERAGE, "coverage-present", "a", "present", "Show or hide what the caches have.", "all"),
    Key(COVERAGE, "coverage-other", "e", "other", "Show the next environment of the sources."),
    Key(COVERAGE, "coverage-close", "escape,q,C", "close", "Go back to the rows.", "back"),
    Key(COPYING, "copying-choose", "enter", "select",
        "Copy in this form, as its letter does.", "copy"),
    Key(EXPORTING, "exporting-write", "enter", "write",
        "Write the file; over one that exists: again.", "write"),
    Key(EXPORTING, "exporting-format", "tab", "form(1)",
        "Choose the next format; the name ends as it does.", "format"),
    Key(EXPORTING, "exporting-previous-format", "shift+tab", "form(-1)",
        "Choose the previous format."),
    Key(EXPORTING, "exporting-rows", "down", "rows(1)",
        "Choose other rows: marked ones, or all shown.", "rows"),
    Key(EXPORTING, "exporting-previous-rows", "up", "rows(-1)", "Choose the rows before."),
    Key(PATH, "path-choose", "enter", "choose", "Go to the spec on the path.", "go to it"),
    Key(HISTORY, "history-choose", "enter", "choose",
        "Take the query under the cursor.", "take it"),
    Key(SEARCHED, "searched-choose", "enter", "choose",
        "Run the command under the cursor.", "run it"),
    Key(REPORTS, "reports-choose", "enter", "take",
        "Go to the record, or filter by the source.", "go to it"),
    Key(REPORTS, "reports-copy", "y", "copy", "Copy the text of the line.", "copy"),
    Key(REPORTS, "reports-filter", "slash,f", "focus_filter", "Search the lines.", "search"),
    Key(DIALOGS, "dialogs-help", "question_mark", "show_help",
        "Show the keys of the dialog.", "help", rank=9),
    Key(DIALOGS, "dialogs-commands", "colon", "app.command_palette",
        "Find a command of the dialog."),
    Key(DIALOGS, "dialogs-redraw", "ctrl+l", "app.draw_again", "Draw the screen again."),
    Key(DIALOGS, "dialogs-close", "escape,q", "close", "Close the dialog.", "close"),
    Key(RELAXATIONS, "relaxations-choose", "enter", "choose",
        "Change the query as the line says.", "take it"),
    Key(FILTERS, "filters-done", "enter", "done", "Go to the rows.", "to the rows"),
    Key(FILTERS, "filters-back", "escape", "give_up",
        "Go to the rows of the last query with any.", "back"),
    Key(FILTERS, "filters-complete", "tab", "take", "Accept the marked completion."),
    Key(FILTERS, "filters-next", "ctrl+n", "mark(1)", "Mark the next completion, or show some."),
    Key(FILTERS, "filters-previous", "ctrl+p", "mark(-1)", "Mark the previous completion."),
    Key(FILTERS, "filters-older", "up", "older", "In the query line: previous query."),
    Key(FILTERS, "filters-newer", "down", "newer",
        "In the query line: next query; else go to the rows."),
)  # fmt: skip
"""All keys, in the order in which they are shown."""

MOVES = frozenset(key.action for key in KEYS if key.moves)
"""The actions that only move a cursor."""

HEADINGS = {
    ANYWHERE: "Everywhere",
    LISTS: "In any list",
    PACKAGES: "In the packages",
    SPECS: "In the specs",
    DETAIL: "In the detail",
    TREE: "In its dependencies",
    FACETS: "In the facets",
    FREQUENCY: "In the frequency of values",
    COMPARE: "In the comparison",
    COVERAGE: "In the coverage of an environment",
    RELAXATIONS: "Where nothing matches",
    COPYING: "In the forms to copy in",
    EXPORTING: "While a file is named",
    PATH: "On the path to a dependency",
    HISTORY: "In the history of queries",
    SEARCHED: "In the help and the commands",
    REPORTS: "In the problems and the sources",
    DIALOGS: "In any dialog",
    FILTERS: "While typing a filter",
}


STACKS = (
    *((pane, LISTS, ANYWHERE) for pane in (PACKAGES, SPECS, DETAIL, TREE, FACETS, RELAXATIONS)),
    *((pane, LISTS, DIALOGS) for pane in (FREQUENCY, COMPARE, COVERAGE, REPORTS, PATH, DIALOGS)),
    *((pane, DIALOGS) for pane in (COPYING, EXPORTING, HISTORY, SEARCHED)),
    *((FILTERS, pane, DIALOGS) for pane in (FREQUENCY, REPORTS)),
    (FILTERS, ANYWHERE),
)
"""The panes whose keys work together; those of the first one hide the same keys of the others."""

TYPED_IN = (FILTERS, EXPORTING, HISTORY, SEARCHED)
"""The panes in which letters are typed, so that they are no keys."""


def bindings(*panes: str) -> list[BindingType]:
    """Return the bindings of some panes.

    >>> BINDINGS = bindings(PACKAGES)
    """
    # The command line reads the table without Textual.
    from textual.binding import Binding

    return [
        Binding(key.keys, key.textual_action, key.sentence, show=False, id=key.name)
        for key in KEYS
        if key.where in panes
    ]

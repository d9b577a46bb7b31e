"""The one table of keys: bindings, hints, help and the table in the README are built from it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from spackscope.model.core.frozen import Frozen
from spackscope.tui.process.ascii_signs import key_word
from spackscope.tui.process.stdio import supports_unicode

ANYWHERE, LISTS, PACKAGES, SPECS = "anywhere", "lists", "packages", "specs"
DETAIL, TREE, FACETS, FILTERS = "detail", "tree", "facets", "filters"
COMPARE, RELAXATIONS, FREQUENCY = "compare", "relaxations", "frequency"
COVERAGE, COPYING, PATH = "coverage", "copying", "path"
SEARCHED, REPORTS, DIALOGS = "searched", "reports", "dialogs"
HISTORY = "history"

Hint = tuple[str, str]
"""A key as it is shown, and a word for what it does."""


class Key(Frozen):
    """One thing that keys do.

    `where` is the pane that must have the focus, `keys` are Textual's names of the keys, `shown`
    is how they are written for people, `hint` the word in the status line, if any; a key that
    works anywhere may have one only while some panes have the focus, `hinted_in`; those of a
    higher `rank` come later. A key that
    `moves` only moves a cursor, so that many can be handled at once. The actions of keys that work
    anywhere are in the table of tui/browser/actions.py, others methods of the focused widget.
    """

    where: str
    keys: str
    action: str
    shown: str
    sentence: str
    hint: str = ""
    hinted_in: tuple[str, ...] = ()
    moves: bool = False
    rank: int = 0

    @property
    def textual_action(self) -> str:
        """The action as Textual runs it; the browser has one for the keys that work anywhere."""
        if self.where != ANYWHERE or self.action.startswith("app."):
            return self.action
        return f"browse('{self.action}')"


_ROWS = (SPECS, DETAIL, TREE)
"""The panes in which a spec is under the cursor."""

KEYS = (
    Key(
        ANYWHERE,
        "y",
        "copy_hash",
        "y",
        "Copy the hash of the row or of marked rows.",
        "copy",
        _ROWS,
    ),
    Key(ANYWHERE, "Y", "copy_menu", "Y", "Copy in another form: spec, install command, JSON."),
    Key(ANYWHERE, "A", "mark_all", "A", "Mark all shown; again: unmark them."),
    Key(ANYWHERE, "U", "unmark", "U", "Clear all marks."),
    Key(
        ANYWHERE, "d", "compare", "d", "Compare the marked rows, or look-alikes.", "compare", _ROWS
    ),
    Key(
        ANYWHERE, "t", "dependencies", "t", "Show the tree of dependencies.", "tree", _ROWS, rank=1
    ),
    Key(
        ANYWHERE,
        "u",
        "dependents",
        "u",
        "Show the users: what depends on it.",
        "users",
        (TREE,),
        rank=1,
    ),
    Key(ANYWHERE, "w", "why", "w", "Show why: the path to the dependency or the marked spec."),
    Key(
        ANYWHERE,
        "z",
        "fold",
        "z",
        "Fold look-alikes; on a folded row: open it; again: unfold all.",
        "fold",
        (SPECS,),
    ),
    Key(ANYWHERE, "v", "facets", "v", "Go to the facet of the column; again: back.", "facets"),
    Key(ANYWHERE, "slash", "focus_query", "/", "Type a query.", "query"),
    Key(ANYWHERE, "ctrl+r", "history", "^r", "Search the queries that were used, and take one."),
    Key(
        ANYWHERE,
        "f",
        "focus_filter",
        "f",
        "Type a filter for the column or the list.",
        "filter",
        rank=2,
    ),
    Key(ANYWHERE, "X", "clear_query", "X", "Remove all filters."),
    Key(
        ANYWHERE,
        "backspace,left_square_bracket,b",
        "undo",
        "⌫ [ b",
        "Undo: back to the view or jump before.",
        "undo",
    ),
    Key(ANYWHERE, "right_square_bracket", "redo", "]", "Redo: forward again."),
    Key(
        ANYWHERE, "question_mark", "show_help", "?", "Show the keys, and run one.", "help", rank=9
    ),
    Key(ANYWHERE, "colon", "app.command_palette", ":", "Find a command by its name."),
    Key(ANYWHERE, "s", "sort", "s", "Sort: ascending, descending, off."),
    Key(ANYWHERE, "F", "frequency", "F", "Count the rows by the column, or by two of them."),
    Key(ANYWHERE, "C", "cover", "C", "Show what the caches have of an environment."),
    Key(ANYWHERE, "tab", "next_pane", "⇥", "Go to the next pane or filter."),
    Key(ANYWHERE, "shift+tab", "previous_pane", "⇧⇥", "Go to the previous pane or filter."),
    Key(ANYWHERE, "1", "focus_packages", "1", "Go to the packages."),
    Key(ANYWHERE, "2", "focus_specs", "2", "Go to the specs."),
    Key(ANYWHERE, "3", "focus_detail", "3", "Go to the detail; again: give it the whole screen."),
    Key(ANYWHERE, "plus", "zoom", "+", "Give the pane the whole screen, or give it back."),
    Key(ANYWHERE, "escape", "back", "esc", "Go one step back."),
    Key(ANYWHERE, "exclamation_mark", "show_problems", "!", "List what could not be read."),
    Key(ANYWHERE, "S", "show_sources", "S", "List the sources: kind, specs, problems, age."),
    Key(ANYWHERE, "a", "everything", "a", "Show or hide dependency-only specs."),
    Key(ANYWHERE, "r", "reload", "r", "Reload changed sources."),
    Key(ANYWHERE, "ctrl+l", "app.draw_again", "^l", "Draw the screen again."),
    Key(ANYWHERE, "ctrl+z", "app.suspend_process", "^z", "Go to the shell; `fg` comes back."),
    Key(ANYWHERE, "q", "leave", "q", "Quit.", "quit", rank=3),
    Key(LISTS, "j,down", "move(1)", "j ↓", "Go one row down.", moves=True),
    Key(LISTS, "k,up", "move(-1)", "k ↑", "Go one row up.", moves=True),
    Key(LISTS, "ctrl+d,pagedown", "page(1)", "^d PgDn", "Go one page down.", moves=True),
    Key(LISTS, "ctrl+u,pageup", "page(-1)", "^u PgUp", "Go one page up.", moves=True),
    Key(LISTS, "g,home", "move_to(0)", "g Home", "Go to the first row.", moves=True),
    Key(LISTS, "G,end", "move_to(-1)", "G End", "Go to the last row.", moves=True),
    Key(PACKAGES, "enter,l,right", "choose", "⏎ l →", "Go to the specs of the package.", "open"),
    Key(
        SPECS,
        "enter",
        "choose",
        "⏎",
        "Open a folded row or a kind, or go to the detail.",
        "detail",
    ),
    Key(SPECS, "space", "mark", "space", "Mark or unmark the row, and go down.", "mark", rank=1),
    Key(
        SPECS,
        "V,ctrl+@,ctrl+space",
        "mark_range",
        "V ^space",
        "Mark from the row marked last to this one.",
    ),
    Key(
        SPECS,
        "h,left",
        "column(-1)",
        "h ←",
        "Go left, then to what is the same in all; or close the group.",
        moves=True,
    ),
    Key(SPECS, "l,right", "column(1)", "l →", "Go one column to the right.", moves=True),
    Key(SPECS, "minus", "hide_column", "-", "Hide the column."),
    Key(SPECS, "less_than_sign", "resize_column(-1)", "<", "Make the column narrower."),
    Key(SPECS, "greater_than_sign", "resize_column(1)", ">", "Make the column wider."),
    Key(SPECS, "c", "list_columns", "c", "List the columns: go to one, or bring it back."),
    Key(DETAIL, "enter", "choose", "⏎", "Filter by the value, or go to the spec.", "choose"),
    Key(DETAIL, "l,right", "step(1)", "l →", "Go to the next value.", moves=True),
    Key(DETAIL, "h,left", "step(-1)", "h ←", "Go to the value before, or back to the specs."),
    Key(TREE, "enter", "choose", "⏎", "Go to the spec; on a head: unfold or fold.", "go to it"),
    Key(TREE, "l,right", "unfold", "→ l", "Unfold, or go to where it is unfolded.", "unfold"),
    Key(TREE, "h,left", "fold", "← h", "Fold, or go to the parent line.", "fold"),
    Key(TREE, "slash,f", "search", "/ f", "Find names: only these lines are shown.", "find"),
    Key(TREE, "z", "fold_all", "z", "Unfold everything, or fold it again.", "all"),
    Key(TREE, "b", "run_only", "b", "Show or hide what is only built with.", "build tools"),
    Key(TREE, "escape", "close", "esc", "Remove the search, or close the tree.", "back"),
    Key(
        FACETS, "space", "include", "space", "Include the value, or stop including it.", "include"
    ),
    Key(FACETS, "x", "exclude", "x", "Exclude the value, or stop excluding it.", "exclude"),
    Key(FACETS, "enter", "only", "⏎", "Include only this value, and go to the rows.", "only this"),
    Key(FACETS, "u", "clear", "u", "Remove the filters of the section.", "clear"),
    Key(FACETS, "slash,f", "focus_filter", "/ f", "Type a filter for the values.", "filter"),
    Key(FACETS, "escape", "leave", "esc", "Close the filter, or go to the rows.", "back"),
    Key(FREQUENCY, "enter", "take", "⏎", "Filter by the value, or by both of the cell.", "filter"),
    Key(FREQUENCY, "x", "by", "x", "Count by a second column or variant too.", "by another"),
    Key(FREQUENCY, "h,left", "column(-1)", "h ←", "Go one column to the left.", moves=True),
    Key(FREQUENCY, "l,right", "column(1)", "l →", "Go one column to the right.", moves=True),
    Key(FREQUENCY, "slash,f", "focus_filter", "/ f", "Type a filter for the values.", "filter"),
    Key(COMPARE, "enter", "take", "⏎", "Go to the spec in this column.", "go to it"),
    Key(COMPARE, "b", "build", "b", "Show or hide build-only packages.", "build tools"),
    Key(COMPARE, "equals_sign", "equal", "=", "Show or hide what is equal.", "equal too"),
    Key(COMPARE, "y", "copy", "y", "Copy the hash of the column.", "copy"),
    Key(COMPARE, "escape,q,d", "close", "esc", "Go back to the rows.", "back"),
    Key(COMPARE, "z", "regroup", "z", "One column for each hash, or for each kind.", "each hash"),
    Key(COMPARE, "h,left", "column(-1)", "← h", "Go one column to the left.", moves=True),
    Key(COMPARE, "l,right", "column(1)", "→ l", "Go one column to the right.", moves=True),
    Key(COVERAGE, "enter", "take", "⏎", "Go to the nearest; on a reason: only these.", "go to it"),
    Key(COVERAGE, "y", "copy", "y", "Copy the hashes of what is missing and shown.", "copy"),
    Key(COVERAGE, "d", "compare", "d", "Compare the missing spec with the nearest.", "compare"),
    Key(COVERAGE, "a", "present", "a", "Show or hide what the caches have.", "all"),
    Key(COVERAGE, "e", "other", "e", "Show the next environment of the sources."),
    Key(COVERAGE, "escape,q,C", "close", "esc", "Go back to the rows.", "back"),
    Key(COPYING, "enter", "select", "⏎", "Copy in this form, as its letter does.", "copy"),
    Key(PATH, "enter", "choose", "⏎", "Go to the spec on the path.", "go to it"),
    Key(HISTORY, "enter", "choose", "⏎", "Take the query under the cursor.", "take it"),
    Key(SEARCHED, "enter", "choose", "⏎", "Run the command under the cursor.", "run it"),
    Key(REPORTS, "enter", "take", "⏎", "Go to the record, or filter by the source.", "go to it"),
    Key(REPORTS, "y", "copy", "y", "Copy the text of the line.", "copy"),
    Key(REPORTS, "slash,f", "focus_filter", "/ f", "Search the lines.", "search"),
    Key(
        DIALOGS, "question_mark", "show_help", "?", "Show the keys of the dialog.", "help", rank=9
    ),
    Key(DIALOGS, "colon", "app.command_palette", ":", "Find a command of the dialog."),
    Key(DIALOGS, "escape,q", "close", "esc", "Close the dialog.", "close"),
    Key(RELAXATIONS, "enter", "choose", "⏎", "Change the query as the line says.", "take it"),
    Key(FILTERS, "enter", "done", "⏎", "Go to the rows.", "to the rows"),
    Key(FILTERS, "escape", "give_up", "esc", "Go to the rows of the last query with any.", "back"),
    Key(FILTERS, "tab", "take", "⇥", "Accept the marked completion."),
    Key(FILTERS, "ctrl+n", "mark(1)", "^n", "Mark the next completion, or show some."),
    Key(FILTERS, "ctrl+p", "mark(-1)", "^p", "Mark the previous completion."),
    Key(FILTERS, "up", "older", "↑", "In the query line: previous query."),
    Key(FILTERS, "down", "newer", "↓", "In the query line: next query; else go to the rows."),
)
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
    PATH: "On the path to a dependency",
    HISTORY: "In the history of queries",
    SEARCHED: "In the help and the commands",
    REPORTS: "In the problems and the sources",
    DIALOGS: "In any dialog",
    FILTERS: "While typing a filter",
}


def bindings(*panes: str) -> list[BindingType]:
    """Return the bindings of some panes.

    >>> BINDINGS = bindings(PACKAGES)
    """
    return [
        Binding(key.keys, key.textual_action, key.sentence, show=False)
        for key in KEYS
        if key.where in panes
    ]


def written_key(shown: str) -> str:
    """Return a key as this terminal can show it: `⏎`, or `enter` without UTF-8."""
    return shown if supports_unicode() else key_word(shown)


def with_written_keys(text: str) -> str:
    """Return a text with its keys as this terminal can show them."""
    if supports_unicode():
        return text
    return "".join(key_word(sign) if sign in "⏎⌫⇥" else sign for sign in text)


def hints(*panes: str) -> Iterable[Hint]:
    """Return keys and words for the status line: by rank, those of the first pane first."""
    seen = set()
    keys = [key for pane in panes for key in KEYS if key.where == pane and key.hint]
    for key in sorted(keys, key=lambda key: key.rank):
        shown = key.shown.split(" ")[0]
        if shown not in seen and (not key.hinted_in or any(p in panes for p in key.hinted_in)):
            seen.add(shown)
            yield shown, key.hint


_NAMES = {key.shown.split(" ")[0]: key.keys.split(",")[0] for key in KEYS}


def key_name(shown: str) -> str:
    """Return Textual's name of a key as it is shown; empty if it is not in the table.

    >>> key_name("⏎")
    'enter'
    """
    return _NAMES.get(shown, "")

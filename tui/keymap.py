"""The one table of keys: bindings, hints, help screen and the README's table are made from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding, BindingType

ANYWHERE, LISTS, PACKAGES, SPECS, DETAIL, TREE, VALUES, FILTERS = (
    "anywhere",
    "lists",
    "packages",
    "specs",
    "detail",
    "tree",
    "values",
    "filters",
)


@dataclass(frozen=True, slots=True)
class Key:
    """Describe one thing that keys do.

    `where` says which pane has to have the focus, `keys` are Textual's names, `shown` is how the
    keys are written for people, `hint` is the word in the status line (none, where empty). `moves`
    tells that the key moves a cursor and does nothing else, so that many may be taken at once.
    """

    where: str
    keys: str
    action: str
    shown: str
    sentence: str
    hint: str = ""
    moves: bool = False


KEYS = (
    Key(ANYWHERE, "slash", "focus_query", "/", "Type a query for all packages.", "query"),
    Key(ANYWHERE, "f", "focus_filter", "f", "Type a filter for the column or the list.", "filter"),
    Key(ANYWHERE, "y", "copy_hash", "y", "Copy the full hash, or those of all marks.", "copy"),
    Key(ANYWHERE, "Y", "copy_menu", "Y", "Choose what to copy: hash, spec, install line, JSON."),
    Key(ANYWHERE, "v", "values", "v", "Choose among the values of the column.", "values"),
    Key(ANYWHERE, "backspace", "drop_term", "⌫", "Take the last condition off."),
    Key(ANYWHERE, "ctrl+r", "clear_query", "^r", "Take all conditions off."),
    Key(
        ANYWHERE, "tab", "next_pane", "⇥", "Go to the next pane; in a filter, to the next filter."
    ),
    Key(ANYWHERE, "shift+tab", "previous_pane", "⇧⇥", "Go to the pane or filter before."),
    Key(ANYWHERE, "1", "focus_pane('packages')", "1", "Go to the packages."),
    Key(ANYWHERE, "2", "focus_pane('specs')", "2", "Go to the specs."),
    Key(ANYWHERE, "3", "focus_pane('detail')", "3", "Go to the detail of the spec."),
    Key(ANYWHERE, "escape", "back", "esc", "Go one step back."),
    Key(ANYWHERE, "z", "fold", "z", "Fold look-alikes into one row with their count, or unfold."),
    Key(ANYWHERE, "s", "sort", "s", "Sort by the column; again: the other way; again: not."),
    Key(
        ANYWHERE,
        "t",
        "dependencies",
        "t",
        "Go to the dependencies; again: to the specs that use this one.",
    ),
    Key(ANYWHERE, "w", "why", "w", "Show why: the way to the dependency, or to the marked spec."),
    Key(
        ANYWHERE, "left_square_bracket,b", "retrace(-1)", "[ b", "Go back to where the jump began."
    ),
    Key(ANYWHERE, "right_square_bracket", "retrace(1)", "]", "Go forward again."),
    Key(ANYWHERE, "exclamation_mark", "show_problems", "!", "List what could not be read."),
    Key(ANYWHERE, "S", "show_sources", "S", "List the sources: kind, specs, problems, age."),
    Key(ANYWHERE, "a", "everything", "a", "List also what is there for others only, or no more."),
    Key(ANYWHERE, "r", "reload", "r", "Read the sources again where they changed."),
    Key(ANYWHERE, "question_mark", "show_help", "?", "Show the keys.", "help"),
    Key(ANYWHERE, "colon", "app.command_palette", ":", "Find a command by its name."),
    Key(ANYWHERE, "ctrl+z", "app.suspend_process", "^z", "Go to the shell; `fg` comes back."),
    Key(ANYWHERE, "q", "leave", "q", "Quit.", "quit"),
    Key(LISTS, "j,down", "move(1)", "j ↓", "Go one row down.", moves=True),
    Key(LISTS, "k,up", "move(-1)", "k ↑", "Go one row up.", moves=True),
    Key(LISTS, "ctrl+d,pagedown", "page(1)", "^d PgDn", "Go one page down.", moves=True),
    Key(LISTS, "ctrl+u,pageup", "page(-1)", "^u PgUp", "Go one page up.", moves=True),
    Key(LISTS, "g,home", "first", "g Home", "Go to the first row.", moves=True),
    Key(LISTS, "G,end", "last", "G End", "Go to the last row.", moves=True),
    Key(PACKAGES, "enter,l,right", "choose", "⏎ l →", "Go to the specs of the package.", "open"),
    Key(SPECS, "h,left", "column(-1)", "h ←", "Go one column to the left.", moves=True),
    Key(SPECS, "l,right", "column(1)", "l →", "Go one column to the right.", moves=True),
    Key(SPECS, "enter", "choose", "⏎", "Open a folded row, or go to the detail.", "detail"),
    Key(
        SPECS,
        "space",
        "mark",
        "space",
        "Mark the row or unmark it, and go on to the next.",
        "mark",
    ),
    Key(SPECS, "u", "unmark", "u", "Take all marks away."),
    Key(DETAIL, "enter", "choose", "⏎", "Take the value as a filter.", "filter by value"),
    Key(DETAIL, "h,left", "fold", "h ←", "Go back to the specs."),
    Key(TREE, "enter", "choose", "⏎", "Go to the spec; on a head: unfold or fold.", "go to it"),
    Key(TREE, "l,right", "unfold", "→ l", "Unfold; what is repeated: go to its place.", "unfold"),
    Key(TREE, "h,left", "fold", "← h", "Fold, or go to the line that this one hangs on.", "fold"),
    Key(VALUES, "enter", "take", "⏎", "Ask for the value; once some are marked, for the marks."),
    Key(VALUES, "space", "mark", "space", "Mark the value as wanted, and go on to the next."),
    Key(VALUES, "x", "exclude", "x", "Mark the value as excluded, and go on to the next."),
    Key(VALUES, "u", "unmark", "u", "Take all marks away; ⏎ then takes the conditions off."),
    Key(VALUES, "slash,f", "focus_filter", "/ f", "Type a filter for the values."),
    Key(FILTERS, "enter", "done", "⏎", "Go to the rows.", "to the rows"),
    Key(
        FILTERS,
        "escape",
        "give_up",
        "esc",
        "Go back to the rows, and from a query without rows to the last one that had some.",
        "back",
    ),
    Key(FILTERS, "tab", "take", "⇥", "Take the marked completion, where one is shown."),
    Key(FILTERS, "ctrl+n", "mark(1)", "^n", "Mark the next completion, or show some."),
    Key(FILTERS, "ctrl+p", "mark(-1)", "^p", "Mark the completion before."),
    Key(FILTERS, "up", "older", "↑", "In the query line: go to the query before this one."),
    Key(FILTERS, "down", "newer", "↓", "Go to the query after this one, or on to the rows."),
)
"""All keys, in the order in which they are shown."""

MOVES = frozenset(key.action for key in KEYS if key.moves)
"""Actions that only move a cursor."""

HEADINGS = {
    ANYWHERE: "Everywhere",
    LISTS: "In any list",
    PACKAGES: "In the packages",
    SPECS: "In the specs",
    DETAIL: "In the detail",
    TREE: "In its dependencies",
    VALUES: "In the values of a column",
    FILTERS: "While typing a filter",
}


def bindings(*places: str) -> list[BindingType]:
    """Make the bindings of some places."""
    return [
        Binding(key.keys, key.action, key.sentence, show=False)
        for key in KEYS
        if key.where in places
    ]


def hints(*places: str) -> Iterable[tuple[str, str]]:
    """Give the keys and words that the status line shows, those of the first place first."""
    for place in places:
        for key in KEYS:
            if key.where == place and key.hint:
                yield key.shown.split(" ")[0], key.hint

"""The one table of keys: bindings, hints, help and docs/reference/keys.md are made from it.

The keys in use are the keys of the table with the changes of the configuration. They belong to the
process, as its terminal does: the application sets them when it starts. Below them are the names
of keys: as Textual has them, as they are shown, and as people write them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain, filterfalse
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.frozen import Frozen
from spackscope.tui.process.stdio import key_word, supports_unicode

if TYPE_CHECKING:
    from textual.binding import BindingType

ANYWHERE, LISTS, PACKAGES, SPECS = "anywhere", "lists", "packages", "specs"
DETAIL, TREE, VALUES, FILTERS = "detail", "tree", "values", "filters"
DIFF, PATHS, DIALOGS = "diff", "paths", "dialogs"

SOURCES, ALL_SOURCES, QUERY, QUERIES = "sources", "all sources", "query", "queries"
COMPLETIONS, FOCUS, MARKED = "completions", "focus", "marked"
ROW, SPEC, LINES = "row", "spec", "lines"
"""The needs of keys: the catalog, and the catalog of all sources; the query, and earlier queries;
completions; the focus in its place; marked specs; the row of the table under the cursor; the spec
of this row, or of the row of a sheet; the lines and the tree of this spec."""


class Key(Frozen):
    """One thing that keys do.

    The actions of keys that work anywhere, and of `screen.browse`, are in the table of
    tui/browser/screen.py, other actions are methods of the focused widget.
    """

    where: str
    """The pane that must have the focus, or ANYWHERE."""
    name: str
    """Its name in the configuration, which stays the same from release to release."""
    keys: str
    """Textual's names of the keys, separated by commas; empty for none."""
    action: str
    sentence: str

    # In the status line.
    hint: str = ""
    """The word for it, if it has any."""
    hinted_in: tuple[str, ...] = ()
    """Of a key that works anywhere: the panes with whose focus it has a hint; empty for all."""
    rank: int = 0
    """Hints of a higher rank come later."""

    # When it is handled.
    moves: bool = False
    """Whether it only moves a cursor, so that many can be handled at once."""
    needs: tuple[str, ...] | None = None
    """What no running job may block.

    None: of a key that works anywhere the spec under the cursor, else the content of its pane.
    """
    needs_specs: bool = True
    """Whether it says, where no source was read, that there are none."""

    # In the help, the palette and the reference.
    as_text: str = ""
    """The command of the shell that prints the same, if any."""
    is_answer: bool = False
    """Whether it opens a sheet; then the palette has it even if it has no key."""
    is_common: bool = False
    """Whether the palette has it first."""
    synonyms: str = ""
    """Words by which a search finds it, too."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Textual's names of the keys."""
        return tuple(filter(None, self.keys.split(",")))

    @property
    def shown(self) -> str:
        """The keys as they are shown, separated by blanks; empty for none."""
        return _shown_keys(self.names)

    @property
    def shown_untyped(self) -> str:
        """Those of the keys that write no character where text is typed."""
        return _shown_keys(filterfalse(is_typed, self.names))

    @property
    def textual_action(self) -> str:
        """The action as Textual runs it; all keys that work anywhere have the action `browse`."""
        if self.where != ANYWHERE or self.action.startswith("app."):
            return self.action
        return f"browse('{self.action}')"


def _shown_keys(names: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(map(shown_key, names)))


_ROWS = (SPECS, DETAIL, TREE)
"""The panes in which a spec is under the cursor."""

KEYS = (
    Key(ANYWHERE, "back", "escape", "back", "Go one step back.", "back",
        (PACKAGES, *_ROWS, VALUES), rank=-1, needs=(ROW,), needs_specs=False,
        synonyms="cancel"),
    Key(ANYWHERE, "copy", "y", "copy",
        "Copy the hash of the row or of marked rows.", "copy", (PACKAGES, *_ROWS),
        needs=(SPEC, MARKED), is_common=True, synonyms="clipboard yank"),
    Key(ANYWHERE, "copy-as", "Y", "copy_as",
        "Copy in another form: install command, JSON, the view as a command line.",
        needs=(SPEC, MARKED), is_common=True, synonyms="clipboard install yaml"),
    Key(ANYWHERE, "export", "e", "export",
        "Write the shown or marked rows to a file.", "write", (SPECS,), rank=6,
        needs=(SPEC, MARKED), synonyms="save file csv markdown"),
    Key(ANYWHERE, "mark-all", "A", "mark_all",
        "Mark all shown, in an opened row its builds; again: unmark.", needs=(SPEC, MARKED),
        synonyms="select"),
    Key(ANYWHERE, "unmark", "U", "unmark", "Clear all marks.", needs=(MARKED,),
        synonyms="deselect"),
    Key(ANYWHERE, "diff", "d", "diff",
        "Compare the marked rows, or look-alikes.", "diff", _ROWS, rank=3,
        as_text="diff HASH HASH", is_answer=True, is_common=True,
        needs=(SPEC, MARKED), synonyms="changes differences"),
    Key(ANYWHERE, "tree", "t", "tree",
        "Show the tree of dependencies.", "tree", _ROWS, rank=5, as_text="needs HASH",
        needs=(SPEC, LINES), synonyms="dependencies"),
    Key(ANYWHERE, "users", "u", "users",
        "Show the users: what depends on it.", "users", (TREE,), rank=5, as_text="find ^/HASH",
        needs=(SPEC, LINES), synonyms="dependents"),
    Key(ANYWHERE, "fold", "z", "fold",
        "Fold look-alikes; on a folded row: open it; again: unfold all.", "fold", (SPECS,),
        rank=5, synonyms="twins kinds"),
    Key(ANYWHERE, "values", "v", "values",
        "Go to the values of the column; again: back.", "values", rank=4, synonyms="facets"),
    Key(ANYWHERE, "query", "slash", "query", "Type a query.", "query", rank=1, needs=(QUERY,),
        is_common=True, synonyms="search"),
    Key(ANYWHERE, "recent-queries", "ctrl+r", "recent_queries",
        "Search recent queries, and use one.", synonyms="history"),
    Key(ANYWHERE, "filter", "f", "filter",
        "Type a filter for the column or the list.", "filter", rank=2, is_common=True,
        synonyms="search"),
    Key(ANYWHERE, "clear", "X", "clear", "Remove all filters.", synonyms="reset"),
    Key(ANYWHERE, "undo", "backspace", "undo",
        "Undo: go back to the previous view.", "undo", rank=6, needs=(ROW,)),
    Key(ANYWHERE, "redo", "right_square_bracket", "redo", "Redo.", needs=(ROW,)),
    Key(ANYWHERE, "help", "question_mark", "app.show_help",
        "Show the keys, and run one.", "help", rank=9, needs=(ROW,), needs_specs=False,
        synonyms="keys"),
    Key(ANYWHERE, "commands", "colon", "app.command_palette", "Search the commands by name.",
        needs=(ROW,), synonyms="palette"),
    Key(ANYWHERE, "sort", "s", "sort", "Sort: ascending, descending, off.", synonyms="order"),
    Key(ANYWHERE, "stats", "F", "stats", "Count the rows by the column, or by two of them.",
        as_text="stats COLUMN", is_answer=True, synonyms="frequency histogram"),
    Key(ANYWHERE, "cover", "C", "cover",
        "Show what of an environment is cached or missing; again: add one, or a host.",
        as_text="cover", is_answer=True, synonyms="coverage missing lock environment"),
    Key(ANYWHERE, "diff-sources", "D", "diff_sources",
        "Compare two sources: what changed; with one open: add another.",
        as_text="diff OLD NEW", is_answer=True, synonyms="changes differences"),
    Key(ANYWHERE, "why", "W", "why",
        "Show what keeps Spack from reusing the row, or marked specs.",
        as_text="why /HASH", is_answer=True, synonyms="reuse"),
    Key(ANYWHERE, "files", "i", "files",
        "Show the files in the spec; choose one: who has that name.",
        as_text="files /HASH", is_answer=True, synonyms="contents archive"),
    Key(ANYWHERE, "files-download", "", "files_download",
        "Download the whole archive of the spec, and show the files in it.",
        as_text="files --download /HASH", is_answer=True, synonyms="contents"),
    Key(ANYWHERE, "duplicates", "P", "duplicates",
        "List packages with several builds, and why.",
        "duplicates", (DIFF,), as_text="duplicates QUERY", is_answer=True,
        synonyms="doubles unify"),
    Key(ANYWHERE, "next-pane", "tab", "next_pane", "Go to the next pane or filter.",
        needs_specs=False),
    Key(ANYWHERE, "previous-pane", "shift+tab", "previous_pane",
        "Go to the previous pane or filter.", needs_specs=False),
    Key(ANYWHERE, "packages", "1", "packages", "Go to the packages.",
        as_text="stats package", needs=(SOURCES,), needs_specs=False, synonyms="list"),
    Key(ANYWHERE, "specs", "2", "specs", "Go to the specs.", as_text="find QUERY",
        needs=(SOURCES,), needs_specs=False, synonyms="builds"),
    Key(ANYWHERE, "detail", "3", "detail",
        "Give the detail the whole screen; again: give it back.", as_text="show HASH",
        needs=(SOURCES,), needs_specs=False, synonyms="spec"),
    Key(ANYWHERE, "zoom", "plus", "zoom", "Give the pane the whole screen, or give it back.",
        needs=(SOURCES,), needs_specs=False, synonyms="full maximize"),
    Key(ANYWHERE, "sources", "S", "sources",
        "List the sources; again: what could not be read.",
        as_text="sources --problems", is_answer=True, synonyms="mirrors reload problems"),
    Key(ANYWHERE, "open", "O", "open",
        "Open another source: a cache, a file, a directory.", needs=(), is_common=True,
        needs_specs=False, synonyms="mirrors lock environment reload"),
    Key(ANYWHERE, "dependency-only", "a", "dependency_only",
        "Show or hide dependency-only specs.", needs_specs=False, synonyms="needed implicit"),
    Key(ANYWHERE, "reload", "r", "reload", "Reload changed sources.", needs_specs=False,
        synonyms="refresh"),
    Key(ANYWHERE, "redraw", "ctrl+l", "app.draw_again", "Draw the screen again.", needs=(),
        synonyms="refresh"),
    Key(ANYWHERE, "suspend", "ctrl+z", "app.suspend_process", "Go to the shell; `fg` comes back.",
        needs=()),
    Key(ANYWHERE, "quit", "q", "quit", "Quit.", "quit", rank=8, needs=(), needs_specs=False,
        synonyms="exit leave"),
    Key(LISTS, "lists-down", "j,down", "move(1)", "Go one row down.", moves=True),
    Key(LISTS, "lists-up", "k,up", "move(-1)", "Go one row up.", moves=True),
    Key(LISTS, "lists-page-down", "ctrl+d,pagedown", "page(1)", "Go one page down.", moves=True),
    Key(LISTS, "lists-page-up", "ctrl+u,pageup", "page(-1)", "Go one page up.", moves=True),
    Key(LISTS, "lists-first", "g,home", "move_to(0)", "Go to the first row.", moves=True),
    Key(LISTS, "lists-last", "G,end", "move_to(-1)", "Go to the last row.", moves=True),
    Key(PACKAGES, "packages-open", "enter,l,right", "choose",
        "Go to the specs of the package.", "open"),
    Key(SPECS, "specs-open", "enter", "choose",
        "Open or pick the row, go to its detail, or take the query.", "open",
        needs=(SPEC, MARKED), synonyms="unfold"),
    Key(SPECS, "specs-mark", "space", "screen.browse('mark')",
        "Mark or unmark the row, and go down.", "mark", rank=5, needs=(SPEC, MARKED),
        synonyms="select"),
    Key(SPECS, "specs-left", "left,h", "column(-1)",
        "Go left, then to what is the same in all; or close the group."),
    Key(SPECS, "specs-right", "right,l", "column(1)",
        "Go one column to the right; in pick: open a folded row."),
    Key(SPECS, "specs-hide-column", "minus", "screen.browse('hide_column')", "Hide the column."),
    Key(SPECS, "specs-columns", "c", "screen.browse('list_columns')",
        "List the columns: go to one, or bring it back.", synonyms="hidden"),
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
    Key(TREE, "tree-search", "slash,f", "screen.browse('search_tree')",
        "Find names: only these lines are shown.", "find", synonyms="search"),
    Key(TREE, "tree-fold-all", "z", "fold_all", "Unfold everything, or fold it again.", "all"),
    Key(TREE, "tree-build-tools", "b", "run_only",
        "Show or hide build dependencies.", "build tools"),
    Key(VALUES, "values-include", "space", "mark('include')",
        "Include the value, or stop including it.", "include"),
    Key(VALUES, "values-exclude", "x", "mark('exclude')",
        "Exclude the value, or stop excluding it.", "exclude"),
    Key(VALUES, "values-only", "enter", "only",
        "Include only this value, and go to the rows.", "only this"),
    Key(VALUES, "values-clear", "u", "mark('clear')",
        "Remove the filters of the section.", "clear"),
    Key(VALUES, "values-filter", "slash,f", "focus_filter",
        "Type a filter for the values.", "filter"),
    Key(DIFF, "diff-build-tools", "b", "switch('build')",
        "Show or hide build dependencies.", "build tools"),
    Key(DIFF, "diff-equal", "equals_sign", "switch('all')",
        "Show or hide what follows, and what is equal.", "equal too"),
    Key(DIFF, "diff-regroup", "z", "switch('each')",
        "Show a column for each hash, or for each way to run.", "each hash"),
    Key(PATHS, "paths-complete", "tab", "complete",
        "Complete the path that is typed, or go on from the row under the cursor.", "complete"),
    Key(PATHS, "paths-add", "ctrl+a", "add",
        "Add the source to the open ones, in place of replacing them.", "add"),
    Key(DIALOGS, "dialogs-choose", "enter", "choose",
        "Choose the row under the cursor.", "choose"),
    Key(DIALOGS, "dialogs-help", "question_mark", "app.show_help",
        "Show the keys of the dialog.", "help", rank=9),
    Key(DIALOGS, "dialogs-redraw", "ctrl+l", "app.draw_again", "Draw the screen again."),
    Key(DIALOGS, "dialogs-close", "escape,q", "close", "Close the dialog.", "close", rank=1),
    Key(FILTERS, "filters-done", "enter", "done", "Go to the rows.", "to the rows",
        needs=(ALL_SOURCES,)),
    Key(FILTERS, "filters-back", "escape", "press('give_up')",
        "Restore the query from before, and go to the rows.", "back", rank=-1, needs=()),
    Key(FILTERS, "filters-complete", "tab", "press('take')",
        "Accept the marked completion, or go to the next filter.",
        needs=(ALL_SOURCES, COMPLETIONS)),
    Key(FILTERS, "filters-next", "ctrl+n", "press('next')",
        "Mark the next completion, or show some.", needs=(ALL_SOURCES, COMPLETIONS)),
    Key(FILTERS, "filters-previous", "ctrl+p", "press('previous')",
        "Mark the previous completion.", needs=(ALL_SOURCES, COMPLETIONS)),
    Key(FILTERS, "filters-older", "up", "older", "In the query line: previous query.",
        needs=(QUERIES,)),
    Key(FILTERS, "filters-newer", "down", "newer",
        "In the query line: next query; else go to the rows.", needs=(QUERIES,)),
)  # fmt: skip
"""All keys, in the order in which they are shown."""

WITHOUT_SPECS = frozenset(key.action for key in KEYS if not key.needs_specs)
"""The actions that work where no source was read."""
MOVES = frozenset(key.action for key in KEYS if key.moves)
"""The actions that only move a cursor."""

HEADINGS = {
    ANYWHERE: "Everywhere",
    LISTS: "In any list",
    PACKAGES: "In the packages",
    SPECS: "In the table",
    DETAIL: "In the detail",
    TREE: "In its dependencies",
    VALUES: "In the values",
    DIFF: "In a diff",
    PATHS: "While a path is typed",
    DIALOGS: "In any dialog",
    FILTERS: "While typing a filter",
}


STACKS = (
    *((pane, LISTS, ANYWHERE) for pane in (PACKAGES, SPECS, DETAIL, TREE, VALUES)),
    (DIFF, SPECS, LISTS, ANYWHERE),
    (DIALOGS, LISTS),
    (PATHS, DIALOGS),
    (FILTERS, ANYWHERE),
)
"""The panes whose keys work together; keys of the first pane hide the same keys of the others."""

TYPED_IN = (FILTERS, PATHS)
"""The panes in which letters are typed, and are not keys."""


def bindings(*panes: str, names: Collection[str] = ()) -> list[BindingType]:
    """Return the bindings of some panes, or of some names in them.

    >>> BINDINGS = bindings(PACKAGES)
    """
    # The command line reads the table without Textual.
    from textual.binding import Binding

    return [
        Binding(_for_textual(key), key.textual_action, key.sentence, show=False, id=key.name)
        for key in KEYS
        if key.where in panes and (not names or key.name in names)
    ]


def _for_textual(key: Key) -> str:
    """Return the keys for Textual, in which each binding needs a key."""
    return key.keys or f"no_key_of_{key.name}"


class Hint(NamedTuple):
    """A key as it is shown, a word for its effect, and Textual's name of the key."""

    shown: str
    word: str
    key: str = ""


Keymap = Mapping[str, Key]
"""The keys of all panes by their names, in the order in which they are shown."""

DEFAULT: Keymap = {key.name: key for key in KEYS}
_used, _pressed = DEFAULT, dict[tuple[str, str], Key]()


def use_keys(keymap: Keymap) -> None:
    """Use the keys of a keymap from now on."""
    global _used, _pressed
    _used = keymap
    _pressed = {(key.where, name): key for key in keymap.values() for name in key.names}


use_keys(DEFAULT)


def textual_keymap() -> dict[str, str]:
    """Return the keys in use that differ from the table, as `App.set_keymap` takes them."""
    return {
        name: _for_textual(key) for name, key in _used.items() if key.keys != DEFAULT[name].keys
    }


def keys_of(*panes: str) -> list[Key]:
    """Return the keys of some panes, the keys of the first pane first."""
    return [key for pane in panes for key in _used.values() if key.where == pane]


def key_names(*names: str) -> frozenset[str]:
    """Return Textual's names of all keys of some names.

    >>> sorted(key_names("undo", "back"))
    ['backspace', 'escape']
    """
    return frozenset(key for name in names for key in _used[name].names)


def needs(key: str, focused: str, *panes: str) -> frozenset[str]:
    """Return the needs of a key while the keys of some panes work.

    Each key needs the focus to be in its place. A key of the focused pane, and a key that acts on
    the spec there, also needs the content of this pane.
    """
    pressed = next(filter(None, (_pressed.get((pane, key)) for pane in panes)), None)
    if pressed is None:
        return frozenset((FOCUS,))
    works_anywhere = pressed.where == ANYWHERE
    of_key = pressed.needs if pressed.needs is not None else (SPEC if works_anywhere else SOURCES,)
    is_of_pane = SPEC in of_key or not works_anywhere
    return frozenset((FOCUS, *of_key, *((focused,) if is_of_pane else ())))


def first_key(name: str, *, is_letter_typed: bool = False) -> str:
    """Return Textual's name of the first key of a name; empty if it has none.

    With `is_letter_typed` the first key that types no character is returned.
    """
    names = _used[name].names
    return next((key for key in names if not (is_letter_typed and is_typed(key))), "")


def shown(name: str) -> str:
    """Return the first key of a name as it is shown in messages, or the name if it has none.

    >>> f"Added a filter ({shown('undo')} removes)"
    'Added a filter (⌫ removes)'
    """
    key = first_key(name)
    return shown_key(key) if key else name


def hint(name: str, word: str = "", *, is_letter_typed: bool = False) -> Iterator[Hint]:
    """Yield the hint of a name, by default with its own word; nothing if it has no key.

    >>> list(hint("zoom", "unzoom"))
    [Hint(shown='+', word='unzoom', key='plus')]
    """
    if key := first_key(name, is_letter_typed=is_letter_typed):
        yield Hint(shown_key(key), word or _used[name].hint, key)


def hints(
    *panes: str,
    words: Mapping[str, str] = {},
    left_out: Collection[str] = (),
    is_letter_typed: bool = False,
) -> Iterator[Hint]:
    """Yield keys and words for the status line: by rank, keys of the first pane first.

    `words` has other words for some names, and words for keys that have no hint else; names that
    are `left_out` have no hint.
    """
    keys = keys_of(*dict.fromkeys(panes))
    working = {name: key for key in reversed(keys) for name in key.names}
    hinted = [key for key in keys if key.hint or words.get(key.name)]
    hinted = [key for key in hinted if key.name not in left_out]
    for key in sorted(hinted, key=lambda key: key.rank):
        if key.hinted_in and not any(pane in panes for pane in key.hinted_in):
            continue
        for each in hint(key.name, words.get(key.name, ""), is_letter_typed=is_letter_typed):
            if working[each.key] is key:
                yield each


def found_by(name: str) -> str:
    """Return the words by which a search finds a key besides its sentence: names and synonyms.

    >>> found_by("cover")
    'C cover cover coverage missing lock environment'
    """
    key = _used[name]
    names = chain.from_iterable(map(spellings, key.names))
    return " ".join(filter(None, (*names, key.name, key.as_text, key.synonyms)))


def with_keys(text: str) -> str:
    """Return a text that names keys in braces, with the keys themselves.

    >>> with_keys("{undo} goes back")
    '⌫ goes back'
    """
    return re.sub(r"\{([a-z-]+)\}", lambda match: shown(match[1]), text)


def written_key(shown: str) -> str:
    """Return a key as this terminal can show it: `⏎`, or `enter` without UTF-8."""
    return shown if supports_unicode() else key_word(shown)


def with_written_keys(text: str) -> str:
    """Return a text with its keys as this terminal can show them."""
    if supports_unicode():
        return text
    return "".join(key_word(sign) if sign in "⏎⌫⇥" else sign for sign in text)


_SHOWN = {
    "enter": "⏎", "backspace": "⌫", "tab": "⇥", "escape": "esc", "space": "space",
    "left": "←", "right": "→", "up": "↑", "down": "↓",
    "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End",
    "insert": "Ins", "delete": "Del", **{f"f{number}": f"F{number}" for number in range(1, 25)},
}  # fmt: skip
"""The keys without a letter, as Textual names them and as they are shown."""

_SIGNS = {
    "slash": "SOLIDUS", "backslash": "REVERSE SOLIDUS", "at": "COMMERCIAL AT",
    "minus": "HYPHEN-MINUS", "plus": "PLUS SIGN", "underscore": "LOW LINE",
}  # fmt: skip
"""Textual's own names of signs; others are named as in Unicode."""
_NAMES = {name: key for key, name in _SIGNS.items()}

_SHIFTED = ("left", "right", "up", "down", "home", "end", "pageup", "pagedown")
"""Keys that terminals send differently with Shift, and with Ctrl."""

_SAME = {
    "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}  # fmt: skip
"""Keys that a terminal sends as another one."""

_FIXED = {
    "ctrl+c": "ends the program",
    "ctrl+q": "ends the program",
    "ctrl+backslash": "opens the commands",
}
"""Keys that always do the same."""

CTRL_SPACE = ("ctrl+@", "ctrl+space")
"""Textual's names of one key: from most terminals, and from terminals that send more."""
_CTRL_SIGNS = (
    *("left_square_bracket", "right_square_bracket"),
    *("backslash", "underscore", "circumflex_accent"),
)


def read_key(written: str) -> str:
    """Return Textual's name of a key in one of its `spellings`, in large or small letters.

    Raises ValueError, with a sentence, for a key that not every terminal sends, or whose meaning
    is fixed.

    >>> read_key("^r"), read_key("PgDn"), read_key("/"), read_key("ctrl+r")
    ('ctrl+r', 'pagedown', 'slash', 'ctrl+r')
    """
    is_letter = len(written) == 1 and written.isalnum()
    name = written if is_letter else _names_by_spelling().get(written.lower(), "")
    if name in _SAME:
        same = _SAME[name]
        raise ValueError(f"a terminal sends {written} as {same}: write {same}")
    if name in _FIXED:
        raise ValueError(f"{written} always {_FIXED[name]}")
    if not name:
        raise ValueError(f"{written} is not a key that every terminal sends")
    return name


@lru_cache(maxsize=1)
def _names_by_spelling() -> Mapping[str, str]:
    """Return Textual's names of the keys that every terminal sends, by their spellings."""
    with_ctrl = *ascii_lowercase, "space", *_SHIFTED, *_CTRL_SIGNS
    names = [
        *(*_CHARACTERS, *_SHOWN),
        *(f"ctrl+{key}" for key in with_ctrl),
        *(f"shift+{key}" for key in ("tab", *_SHIFTED)),
        *(f"alt+{key}" for key in (*ascii_lowercase, *digits)),
    ]
    return {spelling.lower(): name for name in names for spelling in spellings(name)}


def spellings(key: str) -> tuple[str, ...]:
    """Return how a key may be written, by Textual's name: as it is shown, in letters, or as named.

    >>> spellings("shift+tab")
    ('⇧⇥', 'shift-tab', 'shift+tab')
    """
    shown = shown_key(key)
    return shown, key_word(shown), key


def name_of(character: str) -> str:
    """Return Textual's name of the key of a character.

    >>> name_of("/"), name_of("y"), name_of("]")
    ('slash', 'y', 'right_square_bracket')
    """
    if character == " ":
        return "space"
    if character.isalnum():
        return character
    name = unicodedata.name(character, "") if len(character) == 1 else ""
    return _NAMES.get(name, name.lower().replace("-", "_").replace(" ", "_"))


def is_typed(key: str) -> bool:
    """Check whether a key, by Textual's name, writes a character where text is typed."""
    return key == "space" or bool(_character(key))


_CHARACTERS = {name_of(chr(code)): chr(code) for code in range(0x21, 0x7F)}


def _character(key: str) -> str:
    """Return the character of a key by Textual's name; empty if it has none."""
    if len(key) == 1 or key in _SHOWN:
        return key if len(key) == 1 else ""
    try:
        return _CHARACTERS.get(key) or unicodedata.lookup(key.replace("_", " "))
    except KeyError:
        return ""


@lru_cache(maxsize=256)
def shown_key(key: str) -> str:
    """Return a key as it is shown, by Textual's name.

    >>> shown_key("shift+tab"), shown_key("ctrl+r"), shown_key("slash")
    ('⇧⇥', '^r', '/')
    """
    if key == CTRL_SPACE[0]:
        key = CTRL_SPACE[1]
    modifier, _, name = key.rpartition("+")
    sign = {"": "", "ctrl": "^", "shift": "⇧", "alt": "alt+"}[modifier]
    return sign + (_SHOWN.get(name) or _character(name) or name)

"""The help: all keys, the focused pane first, and the query language; below it the palette."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from textual import on
from textual.app import App
from textual.binding import Binding

from spackscope.model.core.text import cell_width, pad, wrap
from spackscope.model.report.report import Piece, highlight
from spackscope.tui.dialogs.pick import Pick, PickDialog, SearchDialog
from spackscope.tui.keymap import (
    ANYWHERE,
    FILTERS,
    HEADINGS,
    Key,
    first_key,
    found_by,
    keys_of,
    shown,
    with_keys,
    with_written_keys,
    written_key,
)
from spackscope.tui.query_reference import LANGUAGE
from spackscope.tui.widgets.drawing import CURSOR
from spackscope.tui.widgets.virtual_list import VirtualList

_COLUMN = 58
"""Cells of a column at the least, where there is more than one."""
_MIN_LEFT, _MAX_LEFT = 9, 32
"""Cells of the keys, and of the forms of queries."""
_MARGINS = 5
"""Cells before, between and after the two texts of an entry."""


WORDS = {
    "source": "A cache, install tree, environment or file that you opened.",
    "sample": "The small cache that comes with spackscope.",
    "this machine": "The host on which builds should run; --host sets another.",
    "look-alikes": "Builds equal in all columns and variants: one row, such as ▸12; {fold} "
    "unfolds.",
    "run the same": "They link and run the same dependencies; only build tools differ.",
    "unlike others": "What sets a row apart from the other rows, and is in no other column.",
    "same in all": "What all rows share, and so has no column.",
    "no map": "The build has no variant or dependency named map.",
    "values": "How often each value of a column occurs in the rows; {values} goes there.",
    "run-time dependencies": "What a spec links or runs, directly or through dependencies.",
    "used by": "The specs in these sources that depend on it.",
    "needed": "A spec that is only a dependency; {dependency-only} shows or hides these.",
    "cached": "A build cache has the binary.",
    "installed": "An install tree has it.",
    "runs here": "Target, C library and os suit this machine; in a query: fits.",
    "reusable": "It runs here, and your Spack configuration allows reuse.",
    "unknown": "The source does not say.",
    "no compiler": "Nothing was compiled, or the source names no compiler.",
    "nearest": "The build that differs least from this one.",
    "because of zlib-ng": "A build exists, but it uses another zlib-ng.",
    "needed by 3 missing": "Three missing specs depend on it, so build it first.",
    "stack": "Environments that the public cache builds together.",
    "tag": "A named or dated state of the public cache.",
    "problem": "Part of a source that could not be read.",
}
"""Words on the screens that a user of Spack may not know, with their meanings.

The meanings name keys by their names in braces.
"""


class HelpEntry(NamedTuple):
    """A line of the help: a key or a form of a query, its effect, and the key it runs if any.

    `words` are found by a search besides the texts of the line.
    """

    left: str
    sentence: str
    heading: str
    runs: str = ""
    words: str = ""

    def fits(self, words: Sequence[str]) -> bool:
        """Check whether all words of a search are in the entry or its heading."""
        text = f"{self.left} {self.sentence} {self.heading} {self.words}".lower()
        return all(word in text for word in words)

    def lines(self, left: int, room: int) -> list[tuple[str, str]]:
        """Return its lines: the key or form and its effect, padded to two widths."""
        texts = zip_longest(wrap(self.left, left), wrap(self.sentence, room), fillvalue="")
        return [(pad(first, left), pad(second, room)) for first, second in texts]


class HelpRow(NamedTuple):
    """A row of the list: a heading, or one line of entries side by side.

    `line` is the number of the row within the entries, and `texts` has this line of each entry.
    """

    heading: str = ""
    entries: Sequence[HelpEntry] = ()
    texts: Sequence[tuple[str, str]] = ()
    line: int = 0


def help_entries(
    panes: Sequence[str], answer: Mapping[str, str] = {}, meanings: Mapping[str, str] = {}
) -> list[HelpEntry]:
    """Return all entries, the entries of `panes` first: only keys of these can be run.

    In an answer, keys by these names have other sentences, which come first; an empty one leaves
    the key out. `meanings` of its rows and heads come before the keys of an answer; those of the
    table come after all keys.
    """
    order = [*panes, *(where for where in HEADINGS if where not in panes)]
    explained = [
        HelpEntry(head, f"{text[:1].upper()}{text[1:]}.".replace("`", ""), "Rows and columns")
        for head, text in meanings.items()
    ]
    entries = explained if answer else []
    entries += [
        HelpEntry(
            written_key(shown(name)), sentence, "In this answer", first_key(name), found_by(name)
        )
        for name, sentence in answer.items()
        if sentence
    ]
    entries += [
        HelpEntry(
            written_key(key.shown),
            key.sentence,
            HEADINGS[where],
            first_key(key.name) if where in panes else "",
            found_by(key.name),
        )
        for where in order
        for key in keys_of(where)
        if key.keys and key.name not in answer
    ]
    entries += [] if answer else explained
    typed = first_key("query") if ANYWHERE in panes else ""
    for heading, forms in LANGUAGE.items():
        title = f"Query: {heading.lower()}"
        entries += [HelpEntry(form.written, form.sentence, title, typed) for form in forms]
    words = {word: with_written_keys(with_keys(text)) for word, text in WORDS.items()}
    return entries + [HelpEntry(word, text, "Words") for word, text in words.items()]


def help_rows(entries: Sequence[HelpEntry], width: int) -> list[HelpRow]:
    """Lay out entries under their headings, in as many columns as fit into a width."""
    rows: list[HelpRow] = []
    columns = max(1, width // _COLUMN)
    column = width // columns
    for heading in dict.fromkeys(entry.heading for entry in entries):
        under = [entry for entry in entries if entry.heading == heading]
        left = min(max(_MIN_LEFT, *(cell_width(e.left) for e in under)), _MAX_LEFT, column // 3)
        room = max(1, column - left - _MARGINS)
        height = -(-len(under) // columns)
        if rows:
            rows.append(HelpRow())
        rows.append(HelpRow(heading))
        for n in range(height):
            beside = under[n::height]
            blank = " " * left, " " * room
            lines = zip_longest(*(e.lines(left, room) for e in beside), fillvalue=blank)
            rows += [HelpRow("", beside, texts, line) for line, texts in enumerate(lines)]
    return rows


class HelpList(VirtualList, inherit_bindings=False):
    """The entries that fit a search, under their headings."""

    CURSOR_IS_ROW = False

    def __init__(self) -> None:
        super().__init__()
        self._entries: Sequence[HelpEntry] = ()
        self._words: Sequence[str] = ()
        self._rows: Sequence[HelpRow] = ()
        self._column = 0

    @property
    def entry(self) -> HelpEntry | None:
        """The entry under the cursor."""
        entries = self._rows[self.cursor].entries if self.length else ()
        return entries[min(self._column, len(entries) - 1)] if entries else None

    def show_entries(self, entries: Sequence[HelpEntry], words: Sequence[str], empty: str) -> None:
        """Show entries with words that were searched, and the cursor on the first."""
        self._entries, self._words = entries, words
        # Before the list has a width, each letter would take a line of its own.
        self._rows = help_rows(entries, self.size.width) if self.size.width else ()
        self._column = 0
        self.top = 0
        self.show(len(self._rows), 1, empty=empty)
        self.post_message(self.Highlighted(self, self.cursor))

    def fit(self) -> None:
        """Lay out the entries in the new width."""
        entry = self.entry
        self.show_entries(self._entries, self._words, self.empty)
        for number, row in enumerate(self._rows):
            if entry is not None and entry in row.entries and not row.line:
                self._column = list(row.entries).index(entry)
                self.move_to(number)

    def move_to(self, row: int) -> None:
        """Move the cursor to a first line of entries: headings and other lines are skipped."""
        firsts = [n for n, each in enumerate(self._rows) if each.entries and not each.line]
        at = bisect_left(firsts, row) if row >= self.cursor else bisect_right(firsts, row) - 1
        if firsts:
            super().move_to(firsts[max(0, min(at, len(firsts) - 1))])

    def action_column(self, step: int) -> None:
        """Go to the entry beside the one under the cursor."""
        entries = self._rows[self.cursor].entries if self.length else ()
        column = max(0, min(self._column, len(entries) - 1)) + step
        if 0 <= column < len(entries):
            self._column = column
            self.refresh()
            self.post_message(self.Highlighted(self, self.cursor))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a heading, or of the entries side by side."""
        line = self._rows[row]
        if not line.entries:
            return [(line.heading, "strong")]
        pieces: list[Piece] = []
        for entry, (left, sentence) in zip(line.entries, line.texts, strict=True):
            is_here = entry is self.entry
            texts = [(f"{CURSOR} " if is_here and not line.line else "  ", "accent")]
            texts += [(left, "accent"), (" ", "")]
            texts += highlight(sentence, self._words, "" if entry.runs else "dim")
            pieces += ((text, f"{style} cursor" if is_here else style) for text, style in texts)
            pieces.append(("  ", ""))
        return pieces


class HelpDialog(SearchDialog[str]):
    """The help; its result is the name of a key to press.

    `panes` are the panes whose keys work where the help was opened, the focused pane first,
    `answer` has the sentences of keys in an answer, and `meanings` those of rows and heads.
    """

    BINDINGS = [
        Binding("left", "list('column', -1)", show=False),
        Binding("right", "list('column', 1)", show=False),
    ]

    def __init__(
        self, panes: Sequence[str], answer: Mapping[str, str], meanings: Mapping[str, str]
    ) -> None:
        self._list, self._entries = HelpList(), help_entries(panes, answer, meanings)
        self.choose_word = "run it"
        super().__init__("help", self._list, is_full=True)

    def find(self) -> None:
        """Show the entries that have all words of the search."""
        words = self.search.lower().split()
        fitting = [entry for entry in self._entries if entry.fits(words)]
        self._list.show_entries(fitting, words, self.why_empty("key or form"))

    def reading(self) -> str:
        """Return the entry under the cursor in full, and the pane in which its key works."""
        entry = self._list.entry
        if entry is None:
            return ""
        is_elsewhere = not entry.runs and entry.heading in HEADINGS.values()
        place = f" ({entry.heading})" if is_elsewhere else ""
        return f"{entry.left}  {entry.sentence}{place}"

    @on(VirtualList.Chosen)
    def _run(self) -> None:
        entry = self._list.entry
        if entry is not None and entry.runs:
            self.dismiss(entry.runs)
        elif entry is not None and entry.heading in HEADINGS.values():
            self.say(f"This key works elsewhere: {entry.heading.lower()}")


def open_help(
    app: App[list[str]],
    panes: Sequence[str],
    answer: Mapping[str, str] = {},
    meanings: Mapping[str, str] = {},
) -> None:
    """Open the help over the screen, and press the key that is chosen in it."""

    def press(key: str | None) -> None:
        if key:
            app.simulate_key(key)

    app.push_screen(HelpDialog(panes, answer, meanings), press)


_PALETTE = "app.command_palette"


def commands(panes: Sequence[str]) -> list[Pick]:
    """Return the common commands, the answers with their names, and the others.

    The value of a command is its action.
    """
    keys = [(key, where) for where in panes for key in keys_of(where)]
    # The sort keeps the order of the others.
    keys.sort(key=lambda each: 0 if each[0].is_common else 1 if each[0].is_answer else 2)
    return [
        _command(key, where)
        for key, where in keys
        if (key.keys or key.is_answer) and where != FILTERS and not key.moves
        if key.action != _PALETTE
    ]


def _command(key: Key, where: str) -> Pick:
    sentence = key.sentence.rstrip(".")
    if key.is_answer:
        sentence = f"{key.as_text.partition(' ')[0]}: {sentence}"
    shown, pressed = written_key(key.shown), first_key(key.name)
    as_text = f"as text: spackscope {key.as_text}" if key.as_text else ""
    reading = filter(None, (sentence, shown, HEADINGS[where].lower(), key.name, as_text))
    action = f"app.simulate_key('{pressed}')" if pressed else f"screen.{key.textual_action}"
    return Pick(action, sentence, shown, "accent", " · ".join(reading), found_by(key.name))


def open_palette(app: App[list[str]], panes: Sequence[str]) -> None:
    """Open the commands over the screen, and run the one that is chosen."""

    async def run(command: str | None) -> None:
        if command is not None:
            await app.run_action(command)

    picks = commands(panes)
    app.push_screen(PickDialog("commands", "command", picks, fills=True, choose="run it"), run)

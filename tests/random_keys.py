"""Press random keys in the browser, and compare what is copied with what the screen shows.

A short run is one of the tests. For an hour on other sources:

    .venv/bin/python -m tests.random_keys --seconds 3600 --seed 7 FILE...
"""

import argparse
import asyncio
import contextlib
import os
import random
import re
import tempfile
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.cells import cell_len
from textual.geometry import Region

from spackscope.tui.browser.state import SPECS
from spackscope.tui.process import interpreter
from spackscope.tui.widgets.frame import MarksLine
from spackscope.tui.widgets.virtual_list import VirtualList
from tests.browsing import Browser, browsing
from tests.builders.pages import SAMPLE_PAGES
from tests.clipboard import Clipboard

SIZES = (
    (160, 45), (120, 36), (104, 30), (80, 24), (60, 20), (40, 12), (92, 17), (50, 16), (30, 8),
)  # fmt: skip

_KEYS = {
    "j": 30, "k": 12, "h": 8, "l": 12, "y": 40, " ": 16, "enter": 16, "escape": 14, "2": 10,
    "1": 4, "3": 6, "tab": 4, "shift+tab": 2, "z": 8, "d": 6, "Y": 4, "U": 3, "t": 4, "u": 4,
    "s": 3, "F": 2, "C": 1, "v": 4, "x": 3, "b": 3,
    "]": 3, "backspace": 7, "X": 2, "ctrl+r": 1, "g": 2, "G": 3,
    "pagedown": 3, "pageup": 2, "+": 3, "-": 1, "c": 1, "=": 2, "a": 1, "r": 1,
    "S": 2, "W": 3, "E": 1, "M": 1, "P": 2, "D": 1,
    "?": 1, "/": 8, "f": 5, "up": 2, "down": 3, "i": 1, "e": 2,
    "A": 2, "ctrl+y": 4, "ctrl+x": 1,
}  # fmt: skip
"""Keys with their weights: all but those that lead out of the program."""

_TEXTS = (
    *("hdf5", "hdf5@1.14", "zlib", "zlib-ng", "+mpi", "~mpi", "target=:zen3", "%gcc@12", "^zlib"),
    *("cached", "hdf5@9.9", "zzz", "hdf5 @1.14.6", "os=ubuntu22.04", "gcc", "target=", "(", "+"),
    *("py-", "openmpi", "cuda_arch=90", "1.14", "ubuntu", "x86_64_v3", "package=", "hd", "@:1 "),
)
_HASH = re.compile(r"[a-z2-7]{32}")
_LAST_KEYS = 40
"""Keys that a failure names."""


@dataclass
class Seen:
    """What the screen showed before a key: its lines, and where the cursor of the table was."""

    lines: Sequence[str]
    pane: str
    dialog: str | None
    row: str
    """The line of the row under the cursor; empty if it is not on the screen."""
    detail: str
    detail_hash: str
    """The hash of the line of the tree under the cursor, else of the detail: it may be cut."""
    marks: Sequence[str]
    marks_line: str
    is_covered: bool
    """Whether a message lies over the line of marks."""
    is_current: bool
    """Whether the table shows rows of the query."""


@dataclass
class RandomKeys:
    """Presses keys and checks the screen after each; `counts` says what was seen how often.

    Where something is to `change` the sources, they are read again at any moment of the keys, of
    which most are not waited for then; what they copy is not compared.
    """

    browser: Browser
    clipboard: Clipboard
    rng: random.Random
    change: Callable[[], None] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    pressed: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_KEYS))

    async def press_one(self) -> None:
        """Press a key, or type a text, turn the wheel or change the size of the terminal."""
        at = self.rng.random()
        if self.change is not None and self.rng.random() < 0.2:
            self.change()
            self.browser.send("r")
        if at < 0.01:
            size = self.rng.choice(SIZES)
            self.pressed.append(f"resize {size}")
            await self.browser.resize(*size)
        elif at < 0.02 and self.browser.dialog is None:
            self.pressed.append("wheel")
            await self.browser.wheel(self.browser.table.rows, up=self.rng.random() < 0.4)
        elif self.browser.dialog is not None and at < 0.3:
            await self._press("escape")
        elif self._is_typing and self.rng.random() < 0.7:
            text = self.rng.choice(_TEXTS)
            self.pressed.append(f"type {text}")
            await self.browser.type(text)
            await self._press(self.rng.choice(("enter", "escape", "tab", "enter")))
        else:
            (key,) = self.rng.choices([*_KEYS], [*_KEYS.values()])
            # In a dialog it is a source, with all files of the machine.
            is_root = key == "/" and self.browser.dialog is not None
            await self._press("escape" if is_root else key)
        self.check()

    @property
    def _is_typing(self) -> bool:
        return self.browser.focus.startswith("filter")

    async def _press(self, key: str) -> None:
        self.pressed.append(key)
        self.counts[key] += 1
        is_copy = key == "y" and not self._is_typing and self.change is None
        seen = self.look() if is_copy else None
        self.clipboard.take()
        settle = self.change is None or self.rng.random() < 0.3
        await self.browser.press(key, settle=settle)
        copied = self.clipboard.take()
        if seen is not None:
            self.check_copied(seen, copied)

    def look(self) -> Seen:
        """Return what the screen shows."""
        browser, rows = self.browser, self.browser.table.rows
        lines, state = browser.lines, browser.state
        node = browser.browser.host.where.node
        marks, toast = browser.browser.query_one(MarksLine), browser.browser.panes.toast
        # On few lines there may be no other place for a message.
        is_covered = toast.display and toast.region.overlaps(marks.region)
        line = rows.cursor - rows.top
        is_there = rows.is_on_screen and 0 <= line < rows.size.height and rows.length > 0
        return Seen(
            lines,
            browser.browser.panes.focus.pane,
            browser.dialog,
            _part(lines, Region(rows.region.x, rows.region.y + line, rows.region.width, 1))
            if is_there
            else "",
            _part(lines, browser.detail.region) if browser.detail.is_on_screen else "",
            node.spec.hash
            if node is not None and node.spec is not None
            else state.details.row.spec.hash
            if state.details is not None
            else "",
            state.marks,
            _part(lines, marks.region) if marks.is_on_screen and not is_covered else "",
            is_covered,
            state.table is not SPECS
            or (state.is_shown and bool(state.listing) and state.draft is None),
        )

    def check_copied(self, seen: Seen, copied: str | None) -> None:
        """Compare what was copied with what was shown before, and with the message."""
        message = self.browser.status
        if copied is None:
            self.counts["nothing copied"] += 1
            self.counts[f"in {seen.dialog or seen.pane}: {message[:40]}"] += 1
            is_said = bool(message) or seen.dialog is not None
            self.hold(is_said, "nothing is copied, and nothing is said")
            self.hold("Copied" not in message or seen.dialog is not None, f"said: {message}")
            return
        if seen.dialog is not None:
            # It is the first form of the menu, which named it.
            self.hold("Copied" in self.browser.text, "copied unsaid")
            return
        hashes = copied.splitlines()
        self.hold(all(map(_HASH.fullmatch, hashes)), f"{copied!r} is not made of hashes")
        if seen.pane == "detail":
            self.counts["copied in the detail"] += 1
            shown = hashes[0][:7] in seen.detail or hashes[0] == seen.detail_hash
            self.hold(shown and len(hashes) == 1, "not the spec of the detail")
            self.hold(f"Copied {hashes[0][:7]}…" in message, f"unnamed: {message}")
            return
        self.hold(seen.is_current, "copied from rows that are not those of the query")
        if "marked" in message.partition("(")[0]:
            self.check_marks(seen, hashes, message)
        else:
            self.check_row(seen, hashes, message)

    def check_row(self, seen: Seen, hashes: Sequence[str], message: str) -> None:
        """Check that what was copied is the hash in the row under the cursor, and is named."""
        self.counts["copied the row"] += 1
        self.hold(len(hashes) == 1, "more than one row")
        self.hold(f"Copied {hashes[0][:7]}…" in message, f"unnamed: {message}")
        self.hold(bool(seen.row), "the row is out of sight")
        heads = "".join(seen.lines[:12])
        has_column = "hash" in heads
        # In a comparison the hash is the head of the column.
        shows_hash = hashes[0][:7] in seen.row + heads * (self.browser.state.table is not SPECS)
        self.hold(shows_hash or not has_column, f"{hashes[0]} is not in {seen.row!r}")

    def check_marks(self, seen: Seen, hashes: Sequence[str], message: str) -> None:
        """Check that what was copied is marked, in sight, named and counted."""
        self.counts["copied marks"] += 1
        self.hold(set(hashes) <= set(seen.marks), "not marked")
        if seen.is_covered:
            self.counts["marks covered"] += 1
        else:
            self.hold(bool(seen.marks_line), "the marks were not shown")
            named = all(h[:7] in seen.marks_line for h in hashes)
            is_cut = " more" in seen.marks_line or " +" in seen.marks_line
            self.hold(named or is_cut, f"not named in {seen.marks_line!r}")
        count = f"Copied {len(hashes):,} marked" if len(hashes) > 1 else f"marked {hashes[0][:7]}"
        self.hold(count in message, f"{len(hashes)} copied, said: {message}")
        hidden = len(seen.marks) - len(hashes)
        self.hold(not hidden or f"{hidden:,} marked" in message, f"{hidden} left out: {message}")

    def check(self) -> None:
        """Check that the program runs, and that what it shows fits on the screen."""
        app = self.browser.app
        self.hold(app.is_running, "the program ended")
        width, height = app.size
        lines = self.browser.lines
        self.hold(len(lines) <= height, f"{len(lines)} lines")
        for line in lines:
            self.hold(cell_len(line) <= width, f"a line of {cell_len(line)} cells: {line!r}")
        for rows in app.screen.query("*"):
            if not isinstance(rows, VirtualList):
                continue
            fits = 0 <= rows.cursor < max(1, rows.length) and 0 <= rows.top <= rows.length
            self.hold(fits, f"{rows}: cursor {rows.cursor}, top {rows.top}, {rows.length} rows")
        if (focused := app.screen.focused) is not None:
            is_seen = focused.size and app.screen.region.overlaps(focused.region)
            self.hold(is_seen, f"the focus is out of sight: {focused} {focused.region}")
        # Not every key scrolls back to the cursor.
        if isinstance(focused, VirtualList) and "wheel" not in self.pressed:
            its_line = focused.cursor - focused.top
            is_seen = not focused.length or 0 <= its_line < focused.size.height
            self.hold(is_seen, f"the cursor is out of sight: {focused}, line {its_line}")

    def hold(self, holds: object, what: str) -> None:
        """Fail with the last keys and the screen unless something holds."""
        if not holds:
            keys = " ".join(self.pressed)
            raise AssertionError(f"{what}\nkeys: {keys}\n{self.browser.text}")


def _part(lines: Sequence[str], region: Region) -> str:
    shown = lines[max(0, region.y) : region.bottom]
    return "\n".join(line[region.x : region.right] for line in shown)


async def press_random_keys(
    sources: Sequence[str],
    seed: int,
    go_on: Callable[[int], bool],
    *,
    query: str = "",
    directory: Path,
    change: Callable[[], None] | None = None,
) -> Counter[str]:
    """Press keys in a browser as long as `go_on`, given their number, returns True.

    What it writes to files, with the names that it proposes, is in the directory.
    """
    rng = random.Random(seed)
    clipboard = Clipboard(directory)
    environ = {**clipboard.environ, "XDG_STATE_HOME": str(directory)}
    size = rng.choice(SIZES[:4])
    names = [*map(os.path.abspath, sources)]
    with _working_in(directory):
        async with browsing(*names, query=query, size=size, environ=environ) as browser:
            keys = RandomKeys(browser, clipboard, rng, change)
            number = 0
            while go_on(number) and browser.app.is_running:
                await keys.press_one()
                number += 1
            await browser.settle()
    return keys.counts


@contextlib.contextmanager
def _working_in(directory: Path) -> Iterator[None]:
    """Make a directory the current one as long as the context."""
    before = Path.cwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> None:
    """Press keys for some seconds, in a new browser every few minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", default=[str(SAMPLE_PAGES)])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keys", type=int, default=600, help="keys in each browser")
    options = parser.parse_args()
    # As the program does: else its memory grows by what the heaps of threads cannot return.
    interpreter.limit_heaps()
    end, counts, seed = time.monotonic() + options.seconds, Counter[str](), options.seed
    failures = 0
    while time.monotonic() < end:
        query = random.Random(seed).choice(["", "hdf5@1.14.6", "hdf5", "zlib-ng"])
        try:
            with tempfile.TemporaryDirectory() as directory:
                counts += asyncio.run(
                    press_random_keys(
                        options.sources,
                        seed,
                        lambda number: number < options.keys and time.monotonic() < end,
                        query=query,
                        directory=Path(directory),
                    )
                )
        except Exception as error:
            failures += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
        seed += 1
    print(f"{failures} failures, seeds {options.seed} to {seed - 1}: {dict(counts)}")


if __name__ == "__main__":
    main()

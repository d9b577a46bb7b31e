"""Draw the pictures of the documents from the program itself.

They show the sample on a host that is described, so that the machine they are drawn on does not
matter. The tour is also the list in docs/tour.md.
Run it after a change of the screen: `.venv/bin/python docs/make_pictures.py`
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textual.pilot import Pilot
from textual.widgets import Input

from spackscope.model.sources.session import Session
from spackscope.tui.app import SpackscopeApp
from spackscope.tui.widgets.frame import Toast

sys.path.insert(0, str(Path(__file__).parent))

import screen_svg
from screen_svg import Frame, Line

DOCS = Path(__file__).parent
SOURCE = "sample"
HOST = "target=zen3 glibc=2.35 os=ubuntu22.04"

MOVING = 112, 30
"""Columns and lines of the tour."""

_KEY_SECONDS = 0.35
"""Seconds that the tour shows what a key does before the last one of a step."""


class Picture(NamedTuple):
    """A picture: the query that the program starts with, the keys pressed then, and its size."""

    query: str
    keys: str
    lines: int = 34
    columns: int = 120


PICTURES = {
    "table": Picture("hdf5 @1.14.6 target=:zen3", "2 enter down down down", 28, 100),
    "compare": Picture("hdf5 @1.14.6 target=:zen3", "2 d", 16),
    "values": Picture("hdf5", "2 v down down space down down"),
}
"""The pictures by the names of their files."""


class Step(NamedTuple):
    """A step of the tour: what is pressed and how that is written, what it does, what is seen.

    Keys are separated by blanks; what comes after `'` is typed, a blank where nothing does. The
    step with the most seconds is what a viewer shows that cannot animate.
    """

    keys: str
    written: str
    sentence: str
    sees: str
    seconds: float = 2.5

    def presses(self) -> list[list[str]]:
        """Return the keys of each press; a typed text is one."""
        keys = self.keys.split()
        return [list(key[1:] or " ") if key[0] == "'" else [key] for key in keys]


TOUR = (
    Step(
        "",
        "",
        "Each package: its newest version, builds, and what runs on this machine.",
        "packages 11",
        3.0,
    ),
    Step(
        "slash 'h 'd 'f tab",
        "/hdf⇥",
        "types a query; the tab key completes a word.",
        "package=hdf5",
        2.0,
    ),
    Step(
        "'@1.14.6 ' 'target= ':zen3",
        "@1.14.6 target=:zen3",
        "keeps one version, and the builds that a zen3 can run.",
        "22 of 63 hdf5",
        2.0,
    ),
    Step(
        "enter",
        "⏎",
        "selects the builds. Those that look the same are one row: ▸12.",
        "▸12   gcc@11.4.0",
        3.0,
    ),
    Step(
        "enter",
        "⏎",
        "opens it: there are four ways to run, and these are the reasons.",
        "only build tools",
        4.0,
    ),
    Step(
        "j j j",
        "j j j",
        "moves down; the detail shows how a build differs from the nearest one.",
        "libiconv 1.17 ≠ 1.18",
    ),
    Step("d", "d", "puts them side by side, causes first.", "run-time dependencies", 3.5),
    Step(
        "escape y",
        "esc y",
        "copies the hash of the row, for spack install.",
        "Copied wuqgt3p",
        3.0,
    ),
    Step("v", "v", "counts the values of every column and variant.", "space include"),
    Step("j space", "j space", "includes one of them: the rows follow at once.", "✓ gcc@13.2.0"),
    Step("escape backspace", "esc ⌫", "undoes the last step.", "22 of 63 hdf5", 2.0),
)
"""The thirty seconds of the animation, and the list in docs/tour.md."""


OPENING = "Twelve builds look the same, with four ways to run: each line says what differs."
"""What is said of the picture that the animation begins with."""
_OPENING_SECONDS = 5.0


class Camera:
    """Press keys in the program, and take pictures of its screen."""

    def __init__(self, app: SpackscopeApp, pilot: Pilot[Any]) -> None:
        self._app, self._pilot = app, pilot

    async def rest(self) -> None:
        """Wait until the screen has not changed for a while."""
        last, calm = None, 0
        while calm < 8:
            await self._pilot.pause(0.1)
            for input_ in self._app.screen.query(Input):
                input_.cursor_blink = False
            lines = self.take()
            is_done = all(worker.is_finished for worker in self._app.workers)
            calm = calm + 1 if is_done and lines == last else 0
            last = lines

    async def press(self, keys: str) -> None:
        """Press keys, as those of a step."""
        for toast in self._app.screen.query(Toast):
            toast.hush()
        for pressed in Step(keys, "", "", "").presses():
            await self._pilot.press(*pressed)
            await self.rest()

    def take(self) -> list[Line]:
        """Return the lines of the screen."""
        return screen_svg.merged(self._app.screen._compositor.render_strips())  # noqa: SLF001


@contextlib.asynccontextmanager
async def camera(query: str, size: tuple[int, int]) -> AsyncIterator[Camera]:
    """Start the program."""
    # The terminal copies, whatever clipboards there are.
    environ = {
        "TERM": "xterm-256color",
        "XDG_CACHE_HOME": os.getcwd(),
        "XDG_STATE_HOME": os.getcwd(),
    }
    session = Session(environ, host=HOST)
    app = SpackscopeApp([SOURCE], query, session=session)
    async with app.run_test(size=size) as pilot:
        camera = Camera(app, pilot)
        await camera.rest()
        yield camera


async def picture(picture: Picture) -> str:
    """Draw a picture."""
    async with camera(picture.query, (picture.columns, picture.lines)) as shot:
        await shot.press(picture.keys)
        return screen_svg.still(shot.take())


async def tour() -> str:
    """Draw the tour, which begins with the picture of the table."""
    frames = []
    size = (MOVING[0], MOVING[1] - 2)
    async with camera(PICTURES["table"].query, size) as shot:
        await shot.press(PICTURES["table"].keys)
        line = screen_svg.caption("", OPENING, MOVING[0])
        frames.append(Frame([*shot.take(), (), line], _OPENING_SECONDS))
    async with camera("", size) as shot:
        for step in TOUR:
            line = screen_svg.caption(step.written, step.sentence, MOVING[0])
            *before, last = step.keys.split() or [""]
            for key, seconds in [*((each, _KEY_SECONDS) for each in before), (last, step.seconds)]:
                await shot.press(key)
                frames.append(Frame([*shot.take(), (), line], seconds))
    poster = max(range(len(frames)), key=lambda number: frames[number].seconds)
    return screen_svg.animated(frames, poster)


@contextlib.contextmanager
def empty_directory() -> Iterator[None]:
    """Work in a new directory."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            yield
        finally:
            os.chdir(before)


def main(names: Sequence[str]) -> None:
    """Write the pictures of some names, or all."""
    with empty_directory():
        for name, each in PICTURES.items():
            if not names or name in names:
                (DOCS / f"{name}.svg").write_text(asyncio.run(picture(each)), encoding="utf-8")
        if not names or "tour" in names:
            (DOCS / "tour.svg").write_text(asyncio.run(tour()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

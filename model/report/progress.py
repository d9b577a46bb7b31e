"""Draw progress, ages and counts as text and bars."""

from __future__ import annotations

import time
from collections.abc import Iterable

from spackscope.model.core.columns import shorten_path, size_text
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import SourceStatus
from spackscope.model.core.text import cell_width, clean, counted, shorten

DOWNLOADING, READING = "bytes of ", "reading "
"""The start of the name of a stage that is counted in bytes; a file or source follows."""
WAITING = "waiting for "
"""The start of the name of a stage in which a source has not answered yet."""

_BAR = 24
"""Cells of a bar on a line of its own, and half as many in a message."""
_NAME = 24
"""Cells of the name of a source in a message."""
_FULL, _EMPTY = "█", "░"


class Progress(Frozen):
    """How much of a stage is done, and the rate since it began.

    `name` is the file or source that is read or downloaded, as `verb` says, or "", and `size` its
    size if that is known; `fraction` is None if the total is unknown.
    """

    verb: str
    name: str
    amount: str
    fraction: float | None = None
    size: str = ""

    @property
    def title(self) -> str:
        """The verb and the name, as in `reading spack:site`."""
        return f"{self.verb} {self.name}".strip()

    def fitted(self, cells: int) -> str:
        """Return name and amount in at most `cells` cells; a long name is shortened."""
        name = shorten(self.name, max(0, cells - cell_width(self.amount) - 2))
        return shorten(f"{name}: {self.amount}" if name else self.amount, cells)

    def lines(self, hint: str) -> str:
        """Return title, bar, amount and a hint, each on a line."""
        return "\n".join(filter(None, (self.title, self.bar(_BAR), self.amount, hint)))

    def line(self, hint: str) -> str:
        """Return a short bar, the name and size or else the amount, and a hint on one line."""
        name = shorten_path(self.name, _NAME)
        of_size = f", {self.size}" if self.size else ""
        title = f"{self.verb} {name}{of_size}" if name else self.amount
        return "  ".join(filter(None, (self.bar(_BAR // 2), title, hint)))

    def bar(self, cells: int) -> str:
        """Return a bar of some cells with the percentage; empty if that is not known.

        What is still shown has not ended: it is 99 % at most.

        >>> Progress("", "", "", 0.5).bar(8)
        '████░░░░  50 %'
        """
        if self.fraction is None:
            return ""
        fraction = max(0.0, min(1.0, self.fraction))
        full = round(fraction * cells)
        return f"{_FULL * full}{_EMPTY * (cells - full)} {min(99, int(100 * fraction)):>3} %"


class Stages:
    """The stages of a task, of which several may be under way at once."""

    def __init__(self) -> None:
        self._starts: dict[str, tuple[float, int]] = {}
        self._done: dict[str, int] = {}

    def progress(self, what: str, done: int, total: int | None) -> Progress:
        """Return the progress of a stage.

        The stage begins again when less is done than before, as records are read, then written.
        """
        if what.startswith(WAITING):
            name = clean(what.removeprefix(WAITING))
            return Progress(WAITING.strip(), name, "no answer yet")
        rate = self._rate(what, done)
        fraction = done / total if total else None
        for prefix, verb in ((DOWNLOADING, "downloading"), (READING, "reading")):
            if what.startswith(prefix):
                size = size_text(total) if total is not None else ""
                of_total = f" of {size}" if size else ""
                amount = f"{size_text(done)}{of_total}, {size_text(rate)} a second"
                return Progress(verb, clean(what.removeprefix(prefix)), amount, fraction, size)
        of_total = f" of {total:,}" if total is not None else ""
        amount = f"{done:,}{of_total} {clean(what)}, {rate:,.0f} a second"
        return Progress("", "", amount, fraction)

    def _rate(self, what: str, done: int) -> float:
        now = time.monotonic()
        if done < self._done.get(what, 0):
            del self._starts[what]
        self._done[what] = done
        started_at, done_before = self._starts.setdefault(what, (now, done))
        return (done - done_before) / (now - started_at) if now > started_at else 0.0


def minutes(seconds: float) -> str:
    """Return a duration: `43 s`, `12 min` or `3 h 5 min`."""
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def stale_copies(sources: Iterable[SourceStatus], now: float) -> list[str]:
    """Return a sentence for each source whose cached copy is used as it is, with its age."""
    sentences = []
    for source in sources:
        if source.remark and not source.failure:
            checked = "" if source.checked is None else f", checked {age(now - source.checked)}"
            sentence = f"{source.name}: using its cached copy{checked}: {source.remark}"
            sentences.append(clean(sentence))
    return sentences


def age(seconds: float) -> str:
    """Return an age, such as `3 hours ago`, in the largest unit that fits."""
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


_EIGHTHS = " ▏▎▍▌▋▊▉"


def value_text(value: str) -> str:
    """Return a counted value in clean text; `none` where a spec has no value."""
    return clean(value) or "none"


def bar(count: int, most: int, cells: int) -> str:
    """Return a bar for a count, `cells` long for the greatest one; a count above 0 has some.

    Example: `bar(5, 8, 4) == "██▌"`.
    """
    if count <= 0 or most <= 0 or cells <= 0:
        return ""
    full, eighths = divmod(max(1, round(8 * count * cells / most)), 8)
    return _FULL * full + _EIGHTHS[eighths].strip()

"""Draw what a terminal shows as SVG, still or animated, with no font of its own.

Each run of text has the length of its cells, so that it is in its place in every font. Lines and
bars are drawn as shapes. An animation changes only the lines that change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

from rich.segment import Segment
from rich.style import Style

WIDTH, HEIGHT, BASE = 8, 17, 13
"""The cell of a letter, and its baseline."""
MARGIN = 12
FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
BACKGROUND, FOREGROUND = "#1c1f24", "#d0d4da"
COLOURS = (
    "#2b2f36", "#e06c75", "#8cc265", "#e5c07b", "#61afef", "#c678dd", "#4fc1d0", "#d0d4da",
    "#3e4451", "#ff7a85", "#a5e075", "#f0d197", "#74b9ff", "#de9bf0", "#67dbe8", "#ffffff",
)  # fmt: skip
"""The sixteen colours of the terminal in the pictures."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HALF, _LOW = WIDTH / 2, HEIGHT / 2
_LINES = {
    "│": "v17", "┬": "h8m-4,0v9", "┴": "h8m-4,0v-9", "├": "v17m0,-9h4", "┤": "v17m0,-9h-4",
    "└": "v9h4", "┼": "v17m-4,-9h8", "┃": "v17",
}  # fmt: skip
_STARTS = "│├┤└┼┃"
"""The signs whose path starts in the middle of the upper edge; others start at the left."""
_PARTS = re.compile(r"[!-~·…]+(?: [!-~·…]+)*|[▏▎▍▌▋▊▉█]+|─+|▁+|\S")
"""Texts without wide gaps, bars, lines, and single signs, which fonts may have in other widths."""


class Look(NamedTuple):
    """How text is drawn."""

    colour: str
    is_bold: bool
    is_dim: bool


def _colours(style: Style) -> tuple[str, str]:
    """Return the colours of text and background, the latter empty for that of the terminal."""

    def named(colour: object, default: str) -> str:
        number = getattr(colour, "number", None)
        return default if number is None else COLOURS[number]

    fore, back = named(style.color, FOREGROUND), named(style.bgcolor, "")
    return (back or BACKGROUND, fore) if style.reverse else (fore, back)


@dataclass
class Drawing:
    """Draw lines, and collect the classes of their texts."""

    looks: dict[Look, str] = field(default_factory=dict)

    def line(self, segments: Iterable[Segment]) -> str:
        """Return a line of the terminal, its baseline at 0."""
        shapes, texts, column = [], [], 0
        for segment in segments:
            style = segment.style or Style()
            colour, back = _colours(style)
            look = Look(colour, bool(style.bold), bool(style.dim))
            width = len(segment.text)
            if back:
                shapes.append(_box(column, width, back, -BASE, HEIGHT))
            if style.underline:
                shapes.append(_box(column, width, colour, 2, 1))
            texts += self._texts(segment.text, column, look)
            column += width
        return "".join(shapes + texts)

    def _texts(self, text: str, column: int, look: Look) -> Iterable[str]:
        opacity = ' opacity=".6"' if look.is_dim else ""
        for match in _PARTS.finditer(text):
            part, at = match[0], column + match.start()
            if part[0] in _EIGHTHS:
                cells = sum(map(_EIGHTHS.index, part)) / 8
                yield _box(at, cells, look.colour, -BASE + 4, HEIGHT - 7, opacity)
            elif part[0] == "─":
                start = f"M{at * WIDTH},{-BASE + _LOW:g}h{len(part) * WIDTH}"
                yield f'<path class="l" stroke="{look.colour}"{opacity} d="{start}"/>'
            elif part[0] == "▁":
                yield _box(at, len(part), look.colour, 2, 1, opacity)
            elif part in _LINES:
                start = f"{at * WIDTH + (_HALF if part in _STARTS else 0):g},"
                start += f"{-BASE if part in _STARTS else -BASE + _LOW:g}"
                path = f'd="M{start}{_LINES[part]}"'
                yield f'<path class="l" stroke="{look.colour}"{opacity} {path}/>'
            else:
                yield (
                    f'<text x="{at * WIDTH}" textLength="{len(part) * WIDTH}"'
                    f' class="{self._class(look)}">{escape(part)}</text>'
                )

    def _class(self, look: Look) -> str:
        return self.looks.setdefault(look, f"a{len(self.looks)}")

    def style_sheet(self) -> str:
        """Return the rules of all classes so far."""
        rules = [
            f"text{{font:13.3px {FONT};white-space:pre}}",
            ".l{fill:none;stroke-width:1}",
        ]
        for look, name in self.looks.items():
            bold = ";font-weight:700" if look.is_bold else ""
            dim = ";opacity:.6" if look.is_dim else ""
            rules.append(f".{name}{{fill:{look.colour}{bold}{dim}}}")
        return "".join(rules)


def _box(
    column: float, width: float, colour: str, top: float, height: float, attribute: str = ""
) -> str:
    return (
        f'<rect x="{column * WIDTH:g}" y="{top:g}" width="{width * WIDTH:g}" height="{height:g}"'
        f' fill="{colour}"{attribute}/>'
    )


Line = tuple[Segment, ...]


@dataclass(frozen=True)
class Frame:
    """The lines of a terminal, and for how many seconds an animation shows them."""

    lines: Sequence[Line]
    seconds: float = 0.0


def still(lines: Sequence[Line]) -> str:
    """Return the picture of one frame."""
    drawing = Drawing()
    rows = [_placed(drawing.line(line), number) for number, line in enumerate(lines)]
    return _document(drawing, rows, lines)


def animated(frames: Sequence[Frame], poster: int) -> str:
    """Return an animation; a viewer that cannot animate shows the frame of a number."""
    drawing, rows = Drawing(), []
    total = sum(frame.seconds for frame in frames)
    starts = [sum(frame.seconds for frame in frames[:number]) for number in range(len(frames))]
    for number in range(len(frames[0].lines)):
        drawn = [drawing.line(frame.lines[number]) for frame in frames]
        for text in dict.fromkeys(drawn):
            changes = [(start, text == each) for start, each in zip(starts, drawn, strict=True)]
            if text:
                rows.append(
                    _placed(text, number, _animation(changes, total, drawn[poster] == text))
                )
    return _document(drawing, rows, frames[0].lines)


def _animation(changes: Sequence[tuple[float, bool]], total: float, is_poster: bool) -> str:
    """Return the attribute and the element that show something in parts of the time."""
    steps = [next(group) for _, group in groupby(changes, key=lambda change: change[1])]
    if len(steps) == 1:
        return ""
    times = ";".join(f"{start / total:.4g}" for start, _ in steps)
    values = ";".join("visible" if is_shown else "hidden" for _, is_shown in steps)
    attribute = "" if is_poster else ' visibility="hidden"'
    return (
        f'{attribute}><animate attributeName="visibility" calcMode="discrete" dur="{total:g}s"'
        f' repeatCount="indefinite" keyTimes="{times}" values="{values}"/'
    )


def _placed(text: str, number: int, attributes: str = "") -> str:
    top = MARGIN + number * HEIGHT + BASE
    return f'<g transform="translate({MARGIN},{top})"{attributes}>{text}</g>'


def _document(drawing: Drawing, rows: Sequence[str], lines: Sequence[Line]) -> str:
    width = max(sum(len(segment.text) for segment in line) for line in lines)
    size = width * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}"'
        f' width="{size[0]}" height="{size[1]}">'
    )
    back = f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
    return "\n".join([head, f"<style>{drawing.style_sheet()}</style>", back, *rows, "</svg>", ""])


def caption(keys: str, sentence: str, width: int) -> Line:
    """Return the line under an animation: what is typed, and what it does."""
    typed = (
        Segment(f" {keys} ", Style(color="cyan", reverse=True, bold=True)) if keys else Segment("")
    )
    text = f"  {sentence}"
    rest = Segment(
        text.ljust(width - len(typed.text))[: width - len(typed.text)], Style(bold=True)
    )
    return (typed, rest)


def merged(lines: Iterable[Iterable[Segment]]) -> list[Line]:
    """Return lines with neighbours of one style joined."""
    return [tuple(Segment.simplify(line)) for line in lines]

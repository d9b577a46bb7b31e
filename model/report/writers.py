"""Write a sheet: as CSV, JSON, Markdown, lines with tabs, or as text for a terminal.

JSON is lossless and pure ASCII. The other forms are cleaned, so that a row is one line whatever
its texts contain; lists are joined by blanks in them, and unknown values are empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any
from unicodedata import normalize

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import cell_width, clean, pad, wrap
from spackscope.model.report.report import (
    UNBOUNDED,
    Line,
    Piece,
    is_numeric,
    restyled,
    styled,
    text_of,
)
from spackscope.model.report.sheet import Item, Sheet, SheetColumn, table_columns
from spackscope.model.report.table_columns import lay_out

MAX_COMMENTED = 100
"""Rows of a table for a comment, unless another number is asked for."""

_GAP = "  "
_LEAST_IN_GROUP = 3
_MAX_KEPT = 100_000
"""Rows that are kept from measuring them to printing them: more are read twice."""

_FORMULA = frozenset("=+-@\t\r'")
"""The characters with which a formula begins in some spreadsheet, and the apostrophe."""

_MAX_CELL = 200
"""Cells of a text in Markdown."""
_PLAIN_WORD = (
    r"(?i)(?!.*(?:www\.|gh-))\(?[^\W_](?:[^\W_]|[.,'’/-](?=[^\W_]))*[%)]*[.,:;]?|[-%]|[^\w!-~]+"
)
"""A word that GitHub shows as it is: no markup, mention, reference or address."""

_PLACE = r"\{(\w[\w.+-]*)(?::(\d{1,4}))?\}"


def json_lines(sheet: Sheet[Any]) -> Iterator[str]:
    """Yield rows as JSON objects, one per line."""
    return (
        json.dumps({column.name: column.value(item) for column in sheet.columns})
        for item in sheet.items()
    )


def json_array(sheet: Sheet[Any]) -> Iterator[str]:
    """Yield a JSON array of the rows, one per line; an empty array is `[]`."""
    lines = json_lines(sheet)
    line = next(lines, None)
    if line is None:
        yield "[]"
        return
    opening = "["
    for following in lines:
        yield f"{opening}{line},"
        opening, line = " ", following
    yield f"{opening}{line}]"


def csv_lines(sheet: Sheet[Any]) -> Iterator[str]:
    """Yield CSV with a header; lists are joined by blanks, and unknown values are empty."""
    line = _csv_writer()
    yield line(clean(column.name) for column in sheet.columns)
    for item in sheet.items():
        yield line(column.flat(column.value(item)) for column in sheet.columns)


def _csv_writer() -> Callable[[Iterable[str]], str]:
    """Return a function that makes a line of CSV (RFC 4180 but for the line end) from cells.

    A cell that a spreadsheet would run as a formula gets an apostrophe, which makes it a text. A
    cell that begins with an apostrophe gets another, so that a reader can always remove one.
    """
    import csv
    from types import SimpleNamespace

    # The writer returns what the file returns: the line.
    writer = csv.writer(SimpleNamespace(write=str), lineterminator="")

    def is_formula(cell: str) -> bool:
        # Some spreadsheets take letters of another width for the same.
        return normalize("NFKC", cell[:1]) in _FORMULA

    def line(cells: Iterable[str]) -> str:
        text: str = writer.writerow(f"'{cell}" if is_formula(cell) else cell for cell in cells)
        return text

    return line


def tabs(sheet: Sheet[Any]) -> Iterator[str]:
    """Yield the drawn columns with tabs between them, and a header; nothing is shortened."""
    drawn = [column for column in sheet.columns if column.drawn]
    yield "\t".join(clean(column.name) for column in drawn)
    for item in sheet.items():
        yield "\t".join(column.flat(column.value(item)) for column in drawn)


def plain(sheet: Sheet[Any]) -> Iterator[str]:
    """Yield each row as lines `label: value`, an empty line before each row but the first.

    Unknown values and bars are left out, and texts are whole.
    """
    if sheet.draw_plain is not None:
        yield from map(text_of, sheet.draw_plain())
        return
    drawn = [column for column in sheet.columns if column.drawn and column.style != "bar"]
    for number, item in enumerate(sheet.items()):
        if number:
            yield ""
        for column in drawn:
            value = column.value(item)
            text = column.flat(value) if isinstance(value, str) else column.text(value)
            if text.strip():
                yield f"{clean(column.label or column.name)}: {text}"


def formatted(
    sheet: Sheet[Any], template: str, quoted: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield each row as a text, in which `{hash:7}` stands for the start of a value, `quoted`.

    Raises WrongQuestion for an unknown column.
    """
    parts = re.split(_PLACE, template)
    # Text, name and length in turn.
    places = [
        (text, sheet.column(name), int(length) if length else None)
        for text, name, length in zip(parts[::3], parts[1::3], parts[2::3], strict=False)
    ]
    for item in sheet.items():
        texts = (
            text + quoted(column.flat(column.value(item))[:most]) for text, column, most in places
        )
        yield "".join(texts) + parts[-1]


def markdown(sheet: Sheet[Any]) -> Iterator[str]:
    """Yield title, notes, and a table for each heading, in the Markdown of GitHub.

    Columns without text below a heading are left out, and long cells are cut.
    """
    parts = [[f"**{markdown_text(sheet.title)}**"]] if sheet.title else []
    parts += [[f"*{markdown_text(clean(note))}*"] for note in sheet.notes]
    for heading, items in sheet.groups().items() if sheet.rows else ():
        parts += [[f"**{markdown_text(clean(heading))}**"]] if heading else []
        # Rows that are read in parts are read once.
        parts.append([*_markdown_table(sheet, [*replace(sheet, rows=items).items()])])
    parts += [[f"and {sheet.left_out:,} more"]] if sheet.left_out else []
    for number, part in enumerate(parts):
        yield from ([""] if number else [])
        yield from part


def _markdown_table(sheet: Sheet[Item], items: Sequence[Item]) -> Iterator[str]:
    """Yield a table with these rows; a row that is alone has a line for each column."""
    table = list[Sequence[str]]()
    for column in sheet.columns:
        values = [column.value(item) for item in items]
        texts = [column.cut(column.text(value), _MAX_CELL) for value in values]
        if any(texts) and column.drawn and column.name not in sheet.redundant:
            numbers = all(type(value) in (int, float, type(None)) for value in values)
            is_right = numbers if column.is_right is None else column.is_right
            write = _code_span if column.style == "hash" else markdown_text
            head = markdown_text(clean(column.label)), "--:" if is_right else "---"
            table.append([*head, *map(write, texts)])
    lines: Iterable[Sequence[str]] = zip(*table, strict=True)
    if len(sheet.rows) == 1:
        lines = [("", ""), ("---", "---"), *((head, cell) for head, _, cell in table)]
    for line in lines:
        cells = (cell.replace("|", "\\|") for cell in line)
        yield f"| {' | '.join(cells)} |"


def markdown_text(text: str) -> str:
    """Return a clean text in Markdown, in which words that could be markup are code.

    >>> markdown_text("libpng 1.6.55 by @ann #12")
    'libpng 1.6.55 by `@ann #12`'
    """
    parts = groupby(text.strip().split(" "), lambda word: bool(re.fullmatch(_PLAIN_WORD, word)))
    return " ".join(
        " ".join(words) if is_plain else _code_span(" ".join(words)) for is_plain, words in parts
    )


def _code_span(text: str) -> str:
    """Return a clean text as code in Markdown; empty for an empty text."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    gap = " " if "`" in text else ""
    return f"{fence}{gap}{text}{gap}{fence}" if text.strip() else ""


def table_lines(sheet: Sheet[Any], width: int | None, limit: int | None) -> Iterator[Line]:
    """Yield the lines of a table that fits a width, below title and notes.

    Without a width nothing is cut. If there are more than `limit` rows, each group shows at
    least some, and the number of its other rows.
    """
    if sheet.draw is not None:
        yield from sheet.draw(width)
        return
    width = UNBOUNDED if width is None else width
    for text in wrap(sheet.title, width) if sheet.title else ():
        yield styled(text, "strong")
    for note in (*sheet.notes, *sheet.more):
        yield from (styled(text, "dim") for text in wrap(clean(note), width))
    if not sheet.rows:
        return
    groups = sheet.groups()
    most = len(sheet.rows)
    if limit is not None and most > limit:
        most = max(_LEAST_IN_GROUP, limit // len(groups)) if len(groups) > 1 else limit
    shown = {heading: replace(sheet, rows=its[:most]) for heading, its in groups.items()}
    columns = [c for c in sheet.columns if c.drawn and c.name not in sheet.redundant]

    def cells(part: Sheet[Item]) -> Iterable[list[str]]:
        for item in part.items():
            yield [column.text(column.value(item)) for column in columns]

    texts = {heading: cells(part) for heading, part in shown.items()}
    if len(sheet.rows) <= _MAX_KEPT:
        texts = {heading: list(each) for heading, each in texts.items()}
    fitted, left = _fit(columns, chain.from_iterable(texts.values()), width)
    if sheet.title or sheet.notes or sheet.more:
        yield ()
    heads = [clean(column.label) for column in columns]
    for head in _row_lines(columns, heads, fitted):
        yield styled(text_of(head), "strong")
    for heading, its in groups.items():
        if heading:
            yield ()
            yield from (styled(text, "strong") for text in wrap(clean(heading), width))
        again = texts[heading] if len(sheet.rows) <= _MAX_KEPT else cells(shown[heading])
        for item, row in zip(shown[heading].items(), again, strict=True):
            yield from _row_lines(columns, row, fitted, item)
        if (more := len(its) - most) > 0:
            text = f"and {more:,} more; --limit 0 prints all"
            yield from (styled(line, "dim") for line in wrap(text, width))
    if left:
        text = f"more with --columns: {', '.join(left)}"
        yield from (styled(line, "dim") for line in wrap(text, width))


_Fitted = dict[SheetColumn[Any], int]
"""The columns that are drawn, each with its width."""


def _fit(
    columns: Sequence[SheetColumn[Any]], rows: Iterable[Sequence[str]], width: int
) -> tuple[_Fitted, list[str]]:
    """Return the columns that fit a width with these cells, and the names of all others."""
    every = table_columns(columns, rows)
    layout = lay_out(every, width + 1)
    widths = {each.column.name: each.width - 1 for each in layout.placed}
    fitted = {column: widths[column.name] for column in columns if column.name in widths}
    return fitted, [clean(name) for name in every.names if name not in widths]


def _row_lines(
    columns: Sequence[SheetColumn[Any]],
    cells: Sequence[str],
    fitted: _Fitted,
    item: Any = None,
) -> Iterator[Line]:
    """Yield a row, or the heads, as lines: one, unless a cell that wraps has too many words."""
    parts = {}
    for column, text in zip(columns, cells, strict=True):
        width = fitted.get(column, 0)
        if width and cell_width(text) > width and (column.wraps or item is None):
            parts[column] = wrap(text, width)
        else:
            parts[column] = [column.cut(text, width) if width else text]
    for number in range(max((len(parts[column]) for column in fitted), default=0)):
        line: list[Piece] = []
        for column, width in fitted.items():
            lines = parts[column]
            text = lines[number] if number < len(lines) else ""
            is_right = is_numeric(text) if column.is_right is None else column.is_right
            text = pad(text, width, right=is_right)
            is_plain = item is None or not text.strip()
            drawn = ((text, ""),) if is_plain else column.line(text, item)
            line += [*([(_GAP, "")] if line else []), *drawn]
        yield restyled(tuple(line), text_of(tuple(line)).rstrip())


class Format(Frozen):
    """A format of output: its name, the ending of its files, if any, and the lines of a sheet."""

    name: str
    ending: str
    of_sheet: Callable[[Sheet[Any]], Iterator[str]]


FORMATS = (
    Format("csv", ".csv", csv_lines),
    Format("json", ".json", json_array),
    Format("jsonl", ".jsonl", json_lines),
    Format("hashes", ".txt", Sheet.hashes),
    Format("markdown", ".md", markdown),
    Format("tab", ".tsv", tabs),
    Format("plain", "", plain),
)
"""All formats, whose names are options of `find` except for `tab`. No two have one ending."""

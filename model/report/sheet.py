"""An answer as a sheet: typed columns and rows, which are printed, sorted and exported alike.

JSON is lossless and pure ASCII. The other forms are cleaned, so that a row is one line whatever
its texts contain; lists are joined by blanks in them, and unknown values are empty.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from typing import Any, Generic, TypeVar
from unicodedata import normalize

from spackscope.model.core.columns import BY_NAME, SHORT_HASH, size_text
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import cell_width, clean, cut_name, cut_words, pad, wrap
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query
from spackscope.model.report.report import (
    UNBOUNDED,
    Line,
    Piece,
    Style,
    is_number,
    restyled,
    styled,
    text_of,
)
from spackscope.model.report.table_columns import TableColumn, TableColumns, lay_out

Item = TypeVar("Item")

MAX_PRINTED = 40
"""Rows that are printed on a terminal, unless another number is asked for."""

_LEAST_IN_GROUP = 3
_LEAST = 12
_LEAST_WRAPPED = 20
"""Cells down to which a column is cut before others are left out."""
MAX_COMMENTED = 100
"""Rows of a table for a comment, unless another number is asked for."""

_GAP = "  "
_MAX_WRAPPED = 70
"""Cells of a text that wraps: numbers after it stand near their names."""
_LONG = 40
"""Letters of a text that a column may have to cut."""
_MAX_KEPT = 100_000
"""Rows that are kept from measuring them to printing them: more are read twice."""
_WINDOW = 1_000
"""Rows that are read at once."""
_FORMULA = frozenset("=+-@\t\r'")
"""The characters with which a formula begins in some spreadsheet, and the apostrophe."""


_MAX_CELL = 200
"""Cells of a text in Markdown."""
_PLAIN_WORD = (
    r"(?i)(?!.*(?:www\.|gh-))\(?[^\W_](?:[^\W_]|[.,'’/-](?=[^\W_]))*[%)]*[.,:;]?|[-%]|[^\w!-~]+"
)
"""A word that GitHub shows as it is: no markup, mention, reference or address."""

_PLACE = r"\{(\w[\w.+-]*)(?::(\d{1,4}))?\}"


def text_cell(value: Any) -> str:
    """Return a value of any type as the text of a cell; empty if it is not known."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(text_cell, value))
    return clean(str(value))


def flat_text(value: Any) -> str:
    """Return a value for CSV and tabs: whole, and lists joined by blanks."""
    if isinstance(value, (tuple, list)):
        return clean(" ".join(map(flat_text, value)))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else clean(str(value))


ANY_COLUMN = "any column"
"""The name of a filter by the texts of all columns; no column has a blank in its name."""


class HashedRows(Sequence[Item]):
    """Rows whose hashes are known without reading them."""

    @abstractmethod
    def hashes(self) -> Iterable[str]:
        """Return the hash of each row, as `Sheet.hash` does."""


class SheetColumn(Frozen, Generic[Item]):
    """A column: its name, which is its key in JSON, and the value of a row in it.

    A value is a string, a number, a boolean, a list of these, or None where it is not known. On a
    terminal it is drawn as `text` says, in a `style`, below its `head`. A column that `wraps`
    goes on in the next line where it is narrow; others are cut, lists at their end. Where it is
    not said whether a column `is_right`, its numbers are aligned right. A column that is not
    `drawn` is in JSON and CSV, and shown if it is asked for by name. `flat` returns the text for
    CSV and tabs. A column that `is_frozen` stays in view when others are scrolled. `look` returns
    the style of one row, and `hash` is the hash of the spec that the whole column is about.
    `meaning` says in a few words what the values are, for the help and the documentation.
    """

    name: str
    value: Callable[[Item], Any]
    head: str | None = None
    text: Callable[[Any], str] = text_cell
    style: Style | Callable[[str], Line] = ""
    sort_key: Callable[[Any], Any] = lambda value: value
    wraps: bool = False
    is_list: bool = False
    is_right: bool | None = None
    drawn: bool = True
    least: int = 0
    is_frozen: bool = False
    look: Callable[[Item], Style] | None = None
    hash: str = ""
    flat: Callable[[Any], str] = flat_text
    meaning: str = ""

    @property
    def label(self) -> str:
        """The head above the column."""
        return self.name.replace("_", " ") if self.head is None else self.head

    def cut(self, text: str, width: int) -> str:
        """Return the text of a cell, cut where it is wider than some cells.

        >>> SheetColumn("share", len, style="bar").cut("█████▌", 4)
        '███▸'
        """
        if cell_width(text) <= width:
            return text
        if self.style == "bar":
            return text[: width - 1] + "▸"
        return cut_words(text, width) if self.is_list or self.wraps else cut_name(text, width)

    def line(self, cell: str, item: Item) -> Line:
        """Return the text of the cell of a row, which may be cut, in its styles."""
        if self.look is not None:
            return styled(cell, self.look(item))
        return styled(cell, self.style) if isinstance(self.style, str) else self.style(cell)


def hash_column(
    value: Callable[[Item], str | None],
    name: str = "hash",
    *,
    meaning: str = BY_NAME["hash"].meaning,
) -> SheetColumn[Item]:
    """Return a column of hashes, which are drawn in their short form."""
    return SheetColumn(
        name,
        value,
        text=lambda hash_: clean((hash_ or "")[:SHORT_HASH]),
        style="hash",
        meaning=meaning,
    )


def package_column(
    value: Callable[[Item], str | None],
    text: Callable[[Any], str] = text_cell,
    style: Style = "",
    *,
    drawn: bool = True,
) -> SheetColumn[Item]:
    """Return a column of the names of packages."""
    return SheetColumn(
        "package", value, text=text, style=style, drawn=drawn, meaning=BY_NAME["package"].meaning
    )


def version_column(value: Callable[[Item], str | None]) -> SheetColumn[Item]:
    """Return a column of versions, which sort as Spack compares them."""
    return SheetColumn(
        "version",
        value,
        sort_key=lambda version: version_key(version or ""),
        meaning=BY_NAME["version"].meaning,
    )


def size_column(
    value: Callable[[Item], float | None],
    name: str = "size",
    *,
    meaning: str = BY_NAME["size"].meaning,
) -> SheetColumn[Item]:
    """Return a column of sizes in bytes."""
    return SheetColumn(
        name,
        value,
        text=lambda size: "" if size is None else size_text(size),
        is_right=True,
        meaning=meaning,
    )


def _no_text(_item: object) -> str:
    return ""


def _no_query(_item: object) -> Query | None:
    return None


class Sheet(Frozen, Generic[Item]):
    """An answer: a title, columns, and rows, which are items of any type.

    `row` says what a row is, for the help. `rows` may be lazy: they are read in parts. `hash`
    returns the hash of the spec of a row, or "", `builds` the number of builds that a row stands
    for, and their package, `beside` the hash of a spec to compare it with, and `query` the query
    that shows a row in the table; `leads_to` returns the hash of the spec to which a row leads in
    the column of one.

    `switches` are options that add rows or columns. On a terminal rows with the same `group` are
    below it as a heading, and the `redundant` columns are left out unless they are asked for,
    since the heading or another column has their values. `gaps` are sentences on grounds of the
    answer that could not be read, if they are shown with it. `notes` are sentences on the whole,
    `more` are those that name a key or an option that adds to it, which a text for others leaves
    out, and `remarks` are sentences that scripts do not want among the rows, as on specs that were
    not searched. A terminal shows `limit` rows, all for None; `left_out` is the number of rows
    that were cut. `draw` draws a sheet without a table, and `draw_plain` for a screen reader; a
    sheet that `is_text` is drawn wherever no format is asked for. If `is_good` is False, the
    command ends with 1, or with 3 if a source could not be read, unless the answer `is_certain`
    whatever this source has. `ending` is raised once the rows are printed.
    """

    title: str
    columns: Sequence[SheetColumn[Item]]
    rows: Sequence[Item]
    hash: Callable[[Item], str] = _no_text
    row: str = ""
    builds: Callable[[Item], tuple[int, str]] = lambda item: (1, "")
    beside: Callable[[Item], str] = _no_text
    query: Callable[[Item], Query | None] = _no_query
    leads_to: Callable[[Item, str], str] = lambda item, hash_: hash_
    switches: Sequence[str] = ()
    group: Callable[[Item], str] = _no_text
    redundant: Sequence[str] = ()
    gaps: Sequence[str] = ()
    notes: Sequence[str] = ()
    more: Sequence[str] = ()
    remarks: Sequence[str] = ()
    limit: int | None = MAX_PRINTED
    left_out: int = 0
    draw: Callable[[int | None], Iterator[Line]] | None = None
    draw_plain: Callable[[], Iterator[Line]] | None = None
    is_text: bool = False
    is_good: bool = True
    is_certain: bool = False
    ending: Exception | None = None

    @cached_property
    def constants(self) -> Mapping[str, str]:
        """The texts of values that all of several rows have, by the name of the column.

        Bars, columns that stay in view, and columns of one spec each are left out.
        """
        texts = dict[str, str]()
        for column in self.columns if len(self.rows) > 1 else ():
            if column.drawn and not (column.is_frozen or column.hash or column.style == "bar"):
                values = map(column.value, self.items())
                first = next(values)
                if all(value == first for value in values) and (text := column.text(first)):
                    texts[column.name] = text
        return texts

    @cached_property
    def is_prose(self) -> bool:
        """Whether some row has a long text, and none is about a spec."""
        drawn = [each for each in self.columns if each.drawn and each.style != "bar"]
        if any(column.hash for column in drawn) or any(map(self.hash, self.items())):
            return False
        values = (each.text(each.value(item)) for item in self.items() for each in drawn)
        return any(len(text) > _LONG for text in values)

    def column(self, name: str) -> SheetColumn[Item]:
        """Return a column by its name, or by that of its condition. Raises WrongQuestion.

        A condition such as `stack=` is on one value of the column `stacks`.
        """
        names = {column.name: column for column in self.columns}
        names.setdefault("name", names.get("package") or self.columns[0])
        name = name if name in names or f"{name}s" not in names else f"{name}s"
        if name not in names:
            guess = did_you_mean(name, names)
            others = f"; there are {', '.join(map(clean, names))}"
            raise WrongQuestion(f"there is no column {clean(name)}{guess or others}")
        return names[name]

    def hash_in(self, item: Item, name: str) -> str:
        """Return the hash of the spec that a row is about in a column; empty if there is none."""
        of_column = next((each.hash for each in self.columns if each.name == name), "")
        return of_column or self.hash(item)

    def of_columns(self, names: str) -> Sheet[Item]:
        """Return the sheet with some columns, whose names are separated by commas."""
        chosen = [self.column(name.strip()) for name in names.split(",") if name.strip()]
        return self._as_table(columns=[replace(each, drawn=True) for each in chosen], redundant=())

    def sorted(self, by: str) -> Sheet[Item]:
        """Return the sheet in the order of a column, descending with `-` before its name.

        Unknown values come last.
        """
        column = self.column(by.removeprefix("-"))
        values = [(column.value(item), item) for item in self.rows]
        known = [pair for pair in values if pair[0] is not None]
        known.sort(key=lambda pair: column.sort_key(pair[0]), reverse=by.startswith("-"))
        unknown = [item for value, item in values if value is None]
        return self._as_table(rows=[*(item for _, item in known), *unknown])

    def filtered(self, name: str, pattern: str) -> Sheet[Item]:
        """Return the sheet with the rows whose text in a column has a pattern in it.

        With ANY_COLUMN the texts of all columns are searched that are drawn. The case of letters
        does not count; `*` matches any text, `|` separates alternatives, and `!` before all of
        them is for rows without a match.
        """
        drawn = [column for column in self.columns if column.drawn]
        columns = drawn if name == ANY_COLUMN else [self.column(name)]
        words = pattern.strip().lower()
        wanted = not words.startswith("!")
        parts = [part.strip() for part in words.removeprefix("!").split("|")]
        tests = [re.compile(".*".join(map(re.escape, part.split("*")))) for part in parts if part]

        def fits(item: Item) -> bool:
            values = [(column, column.value(item)) for column in columns]
            texts = [f"{its.text(value)} {its.flat(value)}".lower() for its, value in values]
            return any(test.search(text) for test in tests for text in texts) is wanted

        rows = [item for item in self.items() if fits(item)] if tests else self.rows
        return self._as_table(rows=rows)

    def cut(self, limit: int) -> Sheet[Item]:
        """Return the sheet with its first rows."""
        left_out = len(self.rows) - limit
        return self._as_table(rows=self.rows[:limit], left_out=max(0, left_out))

    def _as_table(self, **changes: Any) -> Sheet[Item]:
        """Return the sheet with other rows or columns, which its text would not show."""
        return replace(self, draw=None, draw_plain=None, is_text=False, **changes)

    # For scripts

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield each row as an object with the values of all columns, for JSON."""
        for item in self.items():
            yield {column.name: column.value(item) for column in self.columns}

    def items(self) -> Iterator[Item]:
        """Yield the rows, which are read in parts."""
        for start in range(0, len(self.rows), _WINDOW):
            yield from self.rows[start : start + _WINDOW]

    def json_lines(self) -> Iterator[str]:
        """Yield rows as JSON objects, one per line."""
        return map(json.dumps, self.objects())

    def json_array(self) -> Iterator[str]:
        """Yield the lines of a JSON array of the rows."""
        return array_lines(self.json_lines())

    def csv(self) -> Iterator[str]:
        """Yield CSV with a header; lists are joined by blanks, and unknown values are empty."""
        line = csv_writer()
        yield line(clean(column.name) for column in self.columns)
        for item in self.items():
            yield line(column.flat(column.value(item)) for column in self.columns)

    def tabs(self) -> Iterator[str]:
        """Yield the drawn columns with tabs between them, and a header; nothing is shortened."""
        drawn = [column for column in self.columns if column.drawn]
        yield "\t".join(clean(column.name) for column in drawn)
        for item in self.items():
            yield "\t".join(column.flat(column.value(item)) for column in drawn)

    def plain(self) -> Iterator[str]:
        """Yield each row as lines `label: value`, an empty line before each row but the first.

        Unknown values and bars are left out, and texts are whole.
        """
        if self.draw_plain is not None:
            yield from map(text_of, self.draw_plain())
            return
        drawn = [column for column in self.columns if column.drawn and column.style != "bar"]
        for number, item in enumerate(self.items()):
            if number:
                yield ""
            for column in drawn:
                value = column.value(item)
                text = column.flat(value) if isinstance(value, str) else column.text(value)
                if text.strip():
                    yield f"{clean(column.label or column.name)}: {text}"

    def hashes(self) -> Iterator[str]:
        """Yield the hashes of the specs that columns and rows are about, each once."""
        of_columns = (column.hash for column in self.columns)
        rows = self.rows
        of_rows = rows.hashes() if isinstance(rows, HashedRows) else map(self.hash, self.items())
        every = chain(of_columns, of_rows)
        return iter(dict.fromkeys(filter(None, every)))

    def formatted(self, template: str, quoted: Callable[[str], str] = str) -> Iterator[str]:
        """Yield each row as a text, in which `{hash:7}` stands for the start of a value, `quoted`.

        Raises WrongQuestion for an unknown column.
        """
        parts = re.split(_PLACE, template)
        # Text, name and length in turn.
        places = [
            (text, self.column(name), int(length) if length else None)
            for text, name, length in zip(parts[::3], parts[1::3], parts[2::3], strict=False)
        ]
        for item in self.items():
            texts = (
                text + quoted(column.flat(column.value(item))[:most])
                for text, column, most in places
            )
            yield "".join(texts) + parts[-1]

    def markdown(self) -> Iterator[str]:
        """Yield title, notes, and a table for each heading, in the Markdown of GitHub.

        Columns without text below a heading are left out, and long cells are cut.
        """
        parts = [[f"**{markdown_text(self.title)}**"]] if self.title else []
        parts += [[f"*{markdown_text(clean(note))}*"] for note in self.notes]
        for heading, items in self._groups().items() if self.rows else ():
            parts += [[f"**{markdown_text(clean(heading))}**"]] if heading else []
            # Rows that are read in parts are read once.
            parts.append([*self._markdown_table([*replace(self, rows=items).items()])])
        parts += [[f"and {self.left_out:,} more"]] if self.left_out else []
        for number, part in enumerate(parts):
            yield from ([""] if number else [])
            yield from part

    def _markdown_table(self, items: Sequence[Item]) -> Iterator[str]:
        """Yield a table with these rows; a row that is alone has a line for each column."""
        table = list[Sequence[str]]()
        for column in self.columns:
            values = [column.value(item) for item in items]
            texts = [column.cut(column.text(value), _MAX_CELL) for value in values]
            if any(texts) and column.drawn and column.name not in self.redundant:
                numbers = all(type(value) in (int, float, type(None)) for value in values)
                is_right = numbers if column.is_right is None else column.is_right
                write = code_span if column.style == "hash" else markdown_text
                head = markdown_text(clean(column.label)), "--:" if is_right else "---"
                table.append([*head, *map(write, texts)])
        lines: Iterable[Sequence[str]] = zip(*table, strict=True)
        if len(self.rows) == 1:
            lines = [("", ""), ("---", "---"), *((head, cell) for head, _, cell in table)]
        for line in lines:
            cells = (cell.replace("|", "\\|") for cell in line)
            yield f"| {' | '.join(cells)} |"

    # For people

    def _groups(self) -> Mapping[str, Sequence[Item]]:
        """Return the rows by their headings; all rows below an empty one if there are none."""
        if self.group is _no_text:
            return {"": self.rows}
        groups = dict[str, list[Item]]()
        for item in self.items():
            groups.setdefault(self.group(item), []).append(item)
        return groups

    def lines(self, width: int | None, limit: int | None) -> Iterator[Line]:
        """Yield the lines of a table that fits a width, below title and notes.

        Without a width nothing is cut. If there are more than `limit` rows, each group shows at
        least some, and the number of its other rows.
        """
        if self.draw is not None:
            yield from self.draw(width)
            return
        width = UNBOUNDED if width is None else width
        for text in wrap(self.title, width) if self.title else ():
            yield styled(text, "strong")
        for note in (*self.notes, *self.more):
            yield from (styled(text, "dim") for text in wrap(clean(note), width))
        if not self.rows:
            return
        groups = self._groups()
        most = len(self.rows)
        if limit is not None and most > limit:
            most = max(_LEAST_IN_GROUP, limit // len(groups)) if len(groups) > 1 else limit
        shown = {heading: replace(self, rows=its[:most]) for heading, its in groups.items()}
        columns = [c for c in self.columns if c.drawn and c.name not in self.redundant]

        def cells(part: Sheet[Item]) -> Iterable[list[str]]:
            for item in part.items():
                yield [column.text(column.value(item)) for column in columns]

        texts = {heading: cells(part) for heading, part in shown.items()}
        if len(self.rows) <= _MAX_KEPT:
            texts = {heading: list(each) for heading, each in texts.items()}
        fitted, left = _fit(columns, chain.from_iterable(texts.values()), width)
        if self.title or self.notes or self.more:
            yield ()
        heads = [clean(column.label) for column in columns]
        for head in _row_lines(columns, heads, fitted):
            yield styled(text_of(head), "strong")
        for heading, its in groups.items():
            if heading:
                yield ()
                yield from (styled(text, "strong") for text in wrap(clean(heading), width))
            again = texts[heading] if len(self.rows) <= _MAX_KEPT else cells(shown[heading])
            for item, row in zip(shown[heading].items(), again, strict=True):
                yield from _row_lines(columns, row, fitted, item)
            if (more := len(its) - most) > 0:
                text = f"and {more:,} more; --limit 0 prints all"
                yield from (styled(line, "dim") for line in wrap(text, width))
        if left:
            text = f"more with --columns: {', '.join(left)}"
            yield from (styled(line, "dim") for line in wrap(text, width))


def markdown_text(text: str) -> str:
    """Return a clean text in Markdown, in which words that could be markup are code.

    >>> markdown_text("libpng 1.6.55 by @ann #12")
    'libpng 1.6.55 by `@ann #12`'
    """
    parts = groupby(text.strip().split(" "), lambda word: bool(re.fullmatch(_PLAIN_WORD, word)))
    return " ".join(
        " ".join(words) if is_plain else code_span(" ".join(words)) for is_plain, words in parts
    )


def code_span(text: str) -> str:
    """Return a clean text as code in Markdown; empty for an empty text."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    gap = " " if "`" in text else ""
    return f"{fence}{gap}{text}{gap}{fence}" if text.strip() else ""


def array_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield JSON texts as an array, one per line; an empty array is `[]`."""
    lines = iter(texts)
    line = next(lines, None)
    if line is None:
        yield "[]"
        return
    opening = "["
    for following in lines:
        yield f"{opening}{line},"
        opening, line = " ", following
    yield f"{opening}{line}]"


def csv_writer() -> Callable[[Iterable[str]], str]:
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


def table_columns(
    columns: Sequence[SheetColumn[Any]], rows: Iterable[Sequence[str]]
) -> TableColumns:
    """Return the columns of a table with these cells, each with a blank after it.

    A column without any value is left out.
    """
    widest = [0] * len(columns)
    for cells in rows:
        widest = [*map(max, widest, map(cell_width, cells))]
    frozen, scrolled = list[TableColumn](), list[TableColumn]()
    for column, most in zip(columns, widest, strict=True):
        words = map(cell_width, clean(column.label).split(" "))
        least = max(column.least or (_LEAST_WRAPPED if column.wraps else _LEAST), *words)
        if most:
            if column.wraps and column is not columns[-1]:
                most = min(most, _MAX_WRAPPED)
            most = max(most, cell_width(clean(column.label)))
            # The layout leaves one cell between columns.
            label = clean(column.label)
            placed = TableColumn(
                column.name, label, most + 1, min(most, least) + 1, is_bar=column.style == "bar"
            )
            (frozen if column.is_frozen else scrolled).append(placed)
    return TableColumns(tuple(frozen), tuple(scrolled))


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
            is_right = is_number(text) if column.is_right is None else column.is_right
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
    Format("csv", ".csv", Sheet.csv),
    Format("json", ".json", Sheet.json_array),
    Format("jsonl", ".jsonl", Sheet.json_lines),
    Format("hashes", ".txt", Sheet.hashes),
    Format("markdown", ".md", Sheet.markdown),
    Format("tab", ".tsv", Sheet.tabs),
    Format("plain", "", Sheet.plain),
)
"""All formats, whose names are options of `find` except for `tab`. No two have one ending."""

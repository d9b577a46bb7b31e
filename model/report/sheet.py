"""An answer as a sheet: typed columns and rows, which are drawn, sorted and written alike."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

from spackscope.model.core.columns import BY_NAME, SHORT_HASH, size_text
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import cell_width, clean, cut_name, cut_words
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query
from spackscope.model.report.report import Line, Style, styled
from spackscope.model.report.table_columns import TableColumn, TableColumns

Item = TypeVar("Item")

MAX_PRINTED = 40
"""Rows that are printed on a terminal, unless another number is asked for."""

_LEAST = 12
_LEAST_WRAPPED = 20
"""Cells down to which a column is cut before others are left out."""
_MAX_WRAPPED = 70
"""Cells of a text that wraps: numbers after it stand near their names."""
_LONG = 40
"""Letters of a text that a column may have to cut."""
_WINDOW = 1_000
"""Rows that are read at once."""


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


def _text_test(part: str) -> Callable[[str], object]:
    """Return the test of a text against a part of a filter."""
    pattern = re.compile(".*".join(map(re.escape, part.removeprefix("=").split("*"))))
    return pattern.fullmatch if part.startswith("=") else pattern.search


ANY_COLUMN = "any column"
"""The name of a filter by the texts of all columns; no column has a blank in its name."""


class HashedRows(Sequence[Item]):
    """Rows whose hashes are known without reading them."""

    @abstractmethod
    def hashes(self) -> Iterable[str]:
        """Return the hash of each row, as `Sheet.hash` does."""


class SheetColumn(Frozen, Generic[Item]):
    """A column: its name, which is its key in JSON, and the value of a row in it.

    A value is a string, a number, a boolean, a list of these, or None where it is not known.
    """

    name: str
    value: Callable[[Item], Any]

    # On a terminal and in the browser.
    head: str | None = None
    """The text above it; None: its name."""
    text: Callable[[Any], str] = text_cell
    """Spells a value as a cell."""
    style: Style | Callable[[str], Line] = ""
    look: Callable[[Item], Style] | None = None
    """Returns the style of a cell by its row; None: all have the style of the column."""
    wraps: bool = False
    """Whether a narrow column goes on in the next line; the cells of others are cut."""
    is_list: bool = False
    """Whether cells are cut at their end, as suits lists."""
    is_right: bool | None = None
    """Whether cells are aligned right; None: numbers are."""
    least: int = 0
    """The width in cells to which it may be cut; 0: a usual one."""
    is_frozen: bool = False
    """Whether it stays in view when others are scrolled."""
    drawn: bool = True
    """Whether it is there without being asked for; in JSON and CSV it always is."""
    hash: str = ""
    """The hash of the spec that the whole column is about."""

    # For scripts, the order and the help.
    flat: Callable[[Any], str] = flat_text
    """Spells a value for CSV and tabs."""
    sort_key: Callable[[Any], Any] = lambda value: value
    meaning: str = ""
    """What the values are, in a few words."""

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
    value: Callable[[Item], float | None], *, meaning: str = BY_NAME["size"].meaning
) -> SheetColumn[Item]:
    """Return a column of sizes in bytes."""
    return SheetColumn(
        "size",
        value,
        text=lambda size: "" if size is None else size_text(size),
        is_right=True,
        meaning=meaning,
    )


def _no_text(_item: object) -> str:
    return ""


class Sheet(Frozen, Generic[Item]):
    """An answer: a title, columns, and rows, which are items of any type."""

    title: str
    columns: Sequence[SheetColumn[Item]]
    rows: Sequence[Item]
    """May be lazy: they are read in parts."""

    # What a row is about.
    row: str = ""
    """What a row is, for the help."""
    hash: Callable[[Item], str] = _no_text
    """Returns the hash of its spec, or an empty text."""
    builds: Callable[[Item], tuple[int, str]] = lambda item: (1, "")
    """Returns the number of builds that it stands for, and their package."""
    beside: Callable[[Item], str] = _no_text
    """Returns the hash of a spec to compare its spec with, or an empty text."""
    query: Callable[[Item], Query | None] = lambda item: None
    """Returns the query that shows it among the specs, if any does."""
    leads_to: Callable[[Item, str], str] = lambda item, hash_: hash_
    """Returns the hash of the spec to which it leads in the column of a spec."""
    group: Callable[[Item], str] = _no_text
    """Returns the heading that it is below on a terminal."""
    redundant: Sequence[str] = ()
    """Columns that are left out unless they are asked for, as a heading has their values."""

    # Sentences with the rows.
    gaps: Sequence[str] = ()
    """Sentences on grounds of the answer that could not be read, if they are shown with it."""
    notes: Sequence[str] = ()
    """Sentences on the whole answer."""
    more: Sequence[str] = ()
    """Sentences that name a key or an option that adds rows; a text for others has none."""
    remarks: Sequence[str] = ()
    """Sentences that scripts do not want among the rows, as on specs that were not searched."""

    # How it is shown.
    switches: Sequence[str] = ()
    """Options that add rows or columns."""
    limit: int | None = MAX_PRINTED
    """The rows that a terminal shows; None: all."""
    left_out: int = 0
    """The number of rows that were cut."""
    draw: Callable[[int | None], Iterator[Line]] | None = None
    """Draws it on a terminal without a table, in a width."""
    draw_plain: Callable[[], Iterator[Line]] | None = None
    """The same for a screen reader."""
    is_text: bool = False
    """Whether it is drawn wherever no format is asked for."""

    # How the command ends.
    is_good: bool = True
    """If not, it ends with 1, or with 3 if a source could not be read."""
    is_certain: bool = False
    """Whether it is so, whatever a source has that could not be read: then it ends with 1."""
    ending: Exception | None = None
    """Raised once the rows are printed."""

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
        """Return the sheet with some columns, whose names are separated by commas.

        Raises WrongQuestion.
        """
        chosen = [self.column(name.strip()) for name in names.split(",") if name.strip()]
        if not chosen:
            raise WrongQuestion("--columns names no column")
        return self._as_table(columns=[replace(each, drawn=True) for each in chosen], redundant=())

    def sorted(self, by: str) -> Sheet[Item]:
        """Return the sheet in the order of a column, descending with `-` before its name.

        Unknown values come last. Raises WrongQuestion.
        """
        column = self.column(by.removeprefix("-"))
        values = [(column.value(item), item) for item in self.rows]
        # A column may have lists and tuples, which have no order.
        values = [(tuple(v) if isinstance(v, list) else v, item) for v, item in values]
        known = [pair for pair in values if pair[0] is not None]
        known.sort(key=lambda pair: column.sort_key(pair[0]), reverse=by.startswith("-"))
        unknown = [item for value, item in values if value is None]
        return self._as_table(rows=[*(item for _, item in known), *unknown])

    def filtered(self, name: str, pattern: str) -> Sheet[Item]:
        """Return the sheet with the rows whose text in a column has a pattern in it.

        With ANY_COLUMN the texts of all columns are searched that are drawn. The case of letters
        does not count; `*` matches any text, `=` before a text is for the whole text of a cell,
        `|` separates alternatives, and `!` before all of them is for rows without a match.
        """
        drawn = [column for column in self.columns if column.drawn]
        columns = drawn if name == ANY_COLUMN else [self.column(name)]
        words = pattern.strip().lower()
        wanted = not words.startswith("!")
        parts = [part.strip() for part in words.removeprefix("!").split("|")]
        tests = [_text_test(part) for part in parts if part not in ("", "=")]

        def fits(item: Item) -> bool:
            values = [(column, column.value(item)) for column in columns]
            texts = [text for its, value in values for text in (its.text(value), its.flat(value))]
            return any(test(text.lower()) for test in tests for text in texts) is wanted

        rows = [item for item in self.items() if fits(item)] if tests else self.rows
        return self._as_table(rows=rows)

    def cut(self, limit: int) -> Sheet[Item]:
        """Return the sheet with its first rows."""
        left_out = len(self.rows) - limit
        return self._as_table(rows=self.rows[:limit], left_out=max(0, left_out))

    def _as_table(self, **changes: Any) -> Sheet[Item]:
        """Return the sheet with other rows or columns, which its text would not show."""
        return replace(self, draw=None, draw_plain=None, is_text=False, **changes)

    def items(self) -> Iterator[Item]:
        """Yield the rows, which are read in parts."""
        for start in range(0, len(self.rows), _WINDOW):
            yield from self.rows[start : start + _WINDOW]

    def hashes(self) -> Iterator[str]:
        """Yield the hashes of the specs that columns and rows are about, each once."""
        of_columns = (column.hash for column in self.columns)
        rows = self.rows
        of_rows = rows.hashes() if isinstance(rows, HashedRows) else map(self.hash, self.items())
        every = chain(of_columns, of_rows)
        return iter(dict.fromkeys(filter(None, every)))

    def groups(self) -> Mapping[str, Sequence[Item]]:
        """Return the rows by their headings; all rows below an empty one if there are none."""
        if self.group is _no_text:
            return {"": self.rows}
        groups = dict[str, list[Item]]()
        for item in self.items():
            groups.setdefault(self.group(item), []).append(item)
        return groups


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

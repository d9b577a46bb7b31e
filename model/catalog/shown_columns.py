"""Choose the columns that are worth showing."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.catalog.column_arrays import ColumnArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.column import Column
from spackscope.model.core.columns import COLUMNS
from spackscope.model.index.connection import Database

Span = tuple[int, int]


class ShownColumns:
    """The columns to show for ranges of specs; they are remembered."""

    def __init__(
        self, database: Database, arrays: ColumnArrays, dictionaries: Dictionaries
    ) -> None:
        self._database = database
        self._arrays = arrays
        self._dictionaries = dictionaries
        self._varying: dict[Span, frozenset[str]] = {}

    def varying(self, span: Span) -> frozenset[str]:
        """Return the names of the columns with more than one value in a range of specs.

        A column with a value for each record varies if any record has a value.
        """
        if span not in self._varying:
            look_alikes = list(self._arrays.spans(IdRanges([span])))
            self._varying[span] = frozenset(
                column.name
                for column in COLUMNS
                if (
                    self._differs(column, look_alikes)
                    if column.has_dictionary
                    else self._is_known(column, span)
                )
            )
        return self._varying[span]

    def _differs(self, column: Column, look_alikes: Sequence[Span]) -> bool:
        values = self._dictionaries.values(column.name)
        codes = self._arrays.distinct(column.storage, look_alikes)
        return len({values[code] for code in codes}) > 1

    def _is_known(self, column: Column, span: Span) -> bool:
        rows = self._database.execute(
            f"SELECT 1 FROM spec WHERE {column.attribute} IS NOT NULL AND id BETWEEN ? AND ?"
            " LIMIT 1",
            (span[0], span[1] - 1),
        )
        return rows.fetchone() is not None

    def choose(self, span: Span, named: frozenset[str]) -> list[Column]:
        """Return the columns to show for a range of specs, and those `named` in a query."""
        varying = self.varying(span)
        return [
            column
            for column in COLUMNS
            if column.shown == "always"
            or column.name in varying
            or column.name in named
            or (column.shown == "if_any" and any(self._dictionaries.values(column.name)))
        ]

"""Copy the records of unchanged documents from an old index, in whole tables and columns.

The old index is attached to the connection that writes the new one, as `old`. Its look-alikes
are in display order, and stay so when their codes are translated: the dictionaries of both are in
the order of their values. A code becomes another one where values before it come or go, so the
translation of a dictionary is a few shifts of ranges of codes, which SQL looks up.
"""

from __future__ import annotations

import re
import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain

from spackscope.model.core.columns import STORED
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.records import NodeFacts
from spackscope.model.index.codec import is_ascending, unpack_codes, widened
from spackscope.model.index.damage import class_reading_index, natural, text
from spackscope.model.index.dictionaries import KeptEntries
from spackscope.model.index.pieces import Part, Piece, Pieces
from spackscope.model.index.schema import CODES

NOT_KEPT = 0xFFFFFFFF
"""The new code of a document that is not kept."""

_RUN = re.compile(b"\x01+")

_FULL = "database or disk is full"
"""The message of SQLite if a file cannot grow."""

_NOT_WRITTEN = "SQLITE_IOERR_WRITE"
"""The name of the error if it cannot for another reason, such as a quota."""


@class_reading_index
class Kept:
    """The look-alikes and specs of those documents of an old index that have a new code.

    `documents` has the new code of each, or NOT_KEPT; it is empty without an old index. `first`
    has the first spec of each look-alike of the old index, and the number of its specs. Of all
    look-alikes `mask` is 1 for those that are kept, and `ids` has their numbers. Raises
    IndexDamaged.
    """

    def __init__(self, connection: sqlite3.Connection, documents: Sequence[int] = ()) -> None:
        self._connection = connection
        self._documents = documents
        self.first = self.column("first") or array("I", [0])
        self._codes = {name: self.column(name, len(self.first) - 1) for name in CODES}
        is_kept = bytes(code != NOT_KEPT for code in documents)
        self.mask = bytes(map(is_kept.__getitem__, self._codes["document"]))
        # Slices take a third of the time of looking at the mask for each code.
        spans = [slice(*run.span()) for run in _RUN.finditer(self.mask)]
        self.ids = array("I", chain.from_iterable(range(s.start, s.stop) for s in spans))
        self._used = {
            name: set[int]().union(*(codes[span] for span in spans))
            for name, codes in self._codes.items()
        }
        self._shifted: set[str] = set()
        if documents:
            ((specs,),) = connection.execute("SELECT coalesce(max(id) + 1, 0) FROM old.spec")
            is_valid = not self.first[0] and self.first[-1] == specs
            if not is_valid or not is_ascending(self.first, strictly=True):
                raise IndexDamaged("the numbers of specs are damaged")

    def column(self, name: str, length: int | None = None) -> array[int]:
        """Return a column of the table `codes`, which is empty without an old index."""
        if not self._documents:
            return array("I")
        sql = "SELECT width, data FROM old.codes WHERE name = ?"
        row = self._connection.execute(sql, (name,)).fetchone()
        codes = widened(unpack_codes(*(row or (0, b""))))
        if length is not None and len(codes) != length:
            raise IndexDamaged(f"the codes of {name} are damaged")
        return codes

    def entries(self) -> dict[str, KeptEntries]:
        """Return the rows of each dictionary, and the codes that kept look-alikes have."""
        entries = dict.fromkeys(STORED, KeptEntries())
        for storage, columns in STORED.items() if self._documents else ():
            names = ", ".join(column.attribute for column in columns)
            rows = self._connection.execute(
                f"SELECT id, {names} FROM old.{storage} ORDER BY id"
            ).fetchall()
            if any(row[0] != number for number, row in enumerate(rows)):
                raise IndexDamaged(f"the ids of {storage} are damaged")
            entries[storage] = KeptEntries([row[1:] for row in rows], self._used[storage])
        return entries

    def nodes(self, pieces: Pieces) -> tuple[array[int], dict[int, tuple[str | int, ...]]]:
        """Return the code of the node of each spec, and what the nodes of kept specs state."""
        codes = self.column("node", self.first[-1])
        used: set[int] = set()
        for piece in pieces.kept:
            used.update(codes[piece.first : piece.last])
        if not used:
            return codes, {}
        rows = self._connection.execute(f"SELECT id, {', '.join(NodeFacts._fields)} FROM old.node")
        nodes: dict[int, tuple[str | int, ...]] = {
            id_: (*map(text, texts), natural(number))
            for id_, *texts, number in rows
            if id_ in used
        }
        if len(nodes) != len(used):
            raise IndexDamaged("nodes are missing")
        return codes, nodes

    def document(self, spec: int) -> tuple[int, int]:
        """Return the old and the new code of the document of a spec, or of an absent one."""
        if spec >= self.first[-1]:
            return NOT_KEPT, NOT_KEPT
        code = self._codes["document"][bisect_right(self.first, spec) - 1]
        return code, self._documents[code]

    def hash_and_package(self, spec: int) -> tuple[str, str]:
        """Return the hash and the package of a spec of the old index."""
        ((hash_, package),) = self._connection.execute(
            "SELECT hash, package.package FROM old.spec AS spec"
            " JOIN old.look_alike AS look_alike ON look_alike.id = look_alike"
            " JOIN old.package AS package ON package.id = look_alike.package WHERE spec.id = ?",
            (spec,),
        )
        return text(hash_), text(package)

    def translated(self, ranks: Mapping[str, array[int]]) -> Part:
        """Return the look-alikes with the codes of the new index, those of dictionaries `ranks`.

        The codes of look-alikes that are not kept mean nothing.
        """
        columns = {}
        for name, codes in self._codes.items():
            new = self._documents if name == "document" else ranks.get(name)
            if new is not None and self._note_shifts(name, new):
                codes = array("I", map(new.__getitem__, codes))
            columns[name] = codes
        return Part(columns, self.first)

    def _note_shifts(self, name: str, new: Sequence[int]) -> bool:
        """Write by how much used codes change into a table, unless none does."""
        shifts, delta = [(0, 0)], 0
        for code in sorted(self._used[name]):
            if new[code] - code != delta:
                delta = new[code] - code
                shifts.append((code, delta))
        if len(shifts) == 1:
            return False
        self._shifted.add(name)
        table = f"temp.shift_{name}"
        self._connection.execute(f"CREATE TABLE {table} (start INTEGER PRIMARY KEY, delta)")
        self._connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", shifts)
        return True

    def _new_code(self, name: str) -> str:
        """Return SQL for the new code of a column of codes."""
        if name not in self._shifted:
            return name
        shift = f"FROM temp.shift_{name} WHERE start <= {name} ORDER BY start DESC LIMIT 1"
        return f"{name} + (SELECT delta {shift})"

    def copy(self, pieces: Pieces) -> None:
        """Copy the rows of kept documents, look-alikes and specs, with their new ids and codes."""
        kept = pieces.kept
        if not kept:
            return
        codes = [self._new_code(name) for name in CODES]
        columns = ("id + :look_alike", *codes, "first + :spec", "n")
        look_alikes = self._copy("look_alike", columns, "id >= :start AND id < :stop", kept)
        columns = ("id + :spec", "hash", "look_alike + :look_alike", "size")
        # Other damage of a hash is found when it is read.
        condition = "id >= :first AND id < :last AND length(hash) = 32"
        specs = self._copy("spec", columns, condition, kept)
        columns = ("spec + :spec", "path", "installed_at", "build_spec")
        self._copy("provenance", columns, "spec >= :first AND spec < :last", kept)
        if look_alikes != len(self.ids) or specs != sum(p.last - p.first for p in kept):
            raise IndexDamaged("records are missing")
        self._copy_documents()

    def _copy(
        self, table: str, columns: Sequence[str], condition: str, pieces: Sequence[Piece]
    ) -> int:
        """Copy the rows of some pieces; return how many. In SQL the ids are those to be added."""
        sql = f"INSERT INTO {table} SELECT {', '.join(columns)} FROM old.{table} WHERE {condition}"
        shifts = (
            p._replace(look_alike=p.look_alike - p.start, spec=p.spec - p.first) for p in pieces
        )
        try:
            return self._connection.executemany(sql, (p._asdict() for p in shifts)).rowcount
        except sqlite3.OperationalError as error:
            # Python 3.10 does not know the names of errors.
            if str(error) != _FULL and getattr(error, "sqlite_errorname", "") != _NOT_WRITTEN:
                raise
            # That is no damage.
            raise OSError(str(error)) from error

    def _copy_documents(self) -> None:
        runs: list[tuple[int, int, int]] = []
        for code, new in enumerate(self._documents):
            if new == NOT_KEPT:
                continue
            if runs and runs[-1][1] == code and runs[-1][2] == new - code:
                runs[-1] = (runs[-1][0], code + 1, new - code)
            else:
                runs.append((code, code + 1, new - code))
        self._connection.executemany(
            "INSERT INTO document SELECT id + ?3, source, origin, fingerprint, specs,"
            " dependencies, page, merged FROM old.document WHERE id >= ?1 AND id < ?2",
            runs,
        )

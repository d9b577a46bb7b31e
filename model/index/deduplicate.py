"""Show one row where several documents list the same hash."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from spackscope.model.core.records import STATES
from spackscope.model.index.dictionaries import Codes, Dictionaries, Dictionary, storable
from spackscope.model.sources.document import Document


@dataclass(slots=True)
class StagedDocument:
    """Hold what is known of a document whose records are staged.

    `is_merged` tells that its records cannot be told from those of others any more.
    """

    document: Document
    source: int
    is_page: bool
    specs: int = 0
    lists_dependencies: bool = False
    is_merged: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """Hold one staged record; `nth` counts from 0."""

    nth: int
    codes: Codes
    size: float | None


class Merging:
    """Merge staged records, whose look-alikes and dictionaries these are."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        look_alikes: dict[Codes, int],
        documents: Sequence[StagedDocument],
        dictionaries: Dictionaries,
    ) -> None:
        self._connection = connection
        self._look_alikes = look_alikes
        self._documents = documents
        self._dictionaries = dictionaries
        self._merged: dict[int, int] = {}
        self._changed: list[tuple[int, float | None, int]] = []

    def drop_repeated_pages(self) -> None:
        """Keep a record once that several pages of one source, tag and package repeat.

        A hash that they list with differing content stays in every form, and is a Problem.
        """
        pages: dict[tuple[int, int, int], dict[int, list[tuple[Codes, int]]]]
        pages = defaultdict(lambda: defaultdict(list))
        for codes, staged in self._look_alikes.items():
            package, tag, document = codes.package, codes.tag, codes.document
            if self._documents[document].is_page:
                place = self._documents[document].source, tag, package
                pages[place][document].append((codes, staged))
        crowded = [by_page for by_page in pages.values() if len(by_page) > 1]
        if not crowded:
            return
        contents = Dictionary()
        self._connection.execute(
            "CREATE TEMP TABLE crowded"
            " (look_alike INTEGER PRIMARY KEY, place INTEGER, content INTEGER, document INTEGER)"
        )
        self._connection.executemany(
            "INSERT INTO crowded VALUES (?, ?, ?, ?)",
            (
                (
                    staged,
                    place,
                    contents[_content(codes)],
                    codes.document,
                )
                for place, by_page in enumerate(crowded)
                for codes, staged in chain.from_iterable(by_page.values())
            ),
        )
        self._connection.executescript(
            """
            CREATE TEMP TABLE repeated AS SELECT id, document, first FROM (
                SELECT staged.rowid AS id, document, min(document) OVER one AS first,
                    row_number() OVER one AS nth
                FROM staged JOIN crowded USING (look_alike)
                WINDOW one AS (PARTITION BY place, hash, content, staged.size
                               ORDER BY staged.rowid)) WHERE nth > 1;
            DELETE FROM staged WHERE rowid IN (SELECT id FROM repeated);
            """
        )
        for document, first, count in self._connection.execute(
            "SELECT document, min(first), count(*) FROM repeated GROUP BY document"
        ).fetchall():
            self._mark_merged(document, first)
            self._say(
                document,
                f"{count} of its records stand alike in another page of the same source, tag and"
                " package, and are shown once",
            )
        for document, last, hash_, count in self._connection.execute(
            "SELECT min(document), max(document), hash, count(DISTINCT document)"
            " FROM staged JOIN crowded USING (look_alike)"
            " GROUP BY place, hash HAVING count(DISTINCT document) > 1"
        ).fetchall():
            self._mark_merged(document, last)
            self._say(
                document,
                f"hash {hash_} stands with differing content in {count} pages of the same source,"
                " tag and package",
            )
        self._connection.executescript("DROP TABLE repeated; DROP TABLE crowded;")

    def merge(self) -> dict[int, int]:
        """Make one record of those that several documents list under one hash and tag.

        What names no tag joins those that do. The record with the most to tell stays, and takes
        the sources, states and stacks of all. Give which records went into which. Those of one
        hash that name another package, version or architecture stay, and are a Problem.
        """
        sources = {staged.source for staged in self._documents}
        if len(sources) < 2 and all(staged.is_page for staged in self._documents):
            return {}
        known = list(self._look_alikes)
        rows = self._connection.execute(
            "SELECT hash, rowid - 1, look_alike, size FROM staged WHERE hash IN"
            " (SELECT hash FROM staged GROUP BY hash HAVING count(*) > 1) ORDER BY hash, rowid"
        )
        for hash_, group in groupby(rows.fetchall(), key=lambda row: str(row[0])):
            self._merge(hash_, [_Row(nth, known[code], size) for _, nth, code, size in group])
        self._connection.executemany(
            "UPDATE staged SET look_alike = ?, size = ? WHERE rowid = ? + 1", self._changed
        )
        self._connection.execute("CREATE TEMP TABLE merged (nth INTEGER PRIMARY KEY, kept)")
        self._connection.executemany("INSERT INTO merged VALUES (?, ?)", self._merged.items())
        self._connection.executescript(
            """
            DELETE FROM staged WHERE rowid - 1 IN (SELECT nth FROM merged);
            INSERT OR REPLACE INTO told
                SELECT kept, max(package_hash), max(external), max(path), max(installed_at),
                    max(build_spec)
                FROM (SELECT kept, told.* FROM told JOIN merged USING (nth)
                      UNION ALL
                      SELECT nth, told.* FROM told WHERE nth IN (SELECT kept FROM merged))
                GROUP BY kept;
            DROP TABLE merged;
            """
        )
        return self._merged

    def _merge(self, hash_: str, rows: Sequence[_Row]) -> None:
        if len({row.codes.document for row in rows}) < 2:
            return
        untagged = self._dictionaries["tag"].get("", -1)
        by_tag: dict[int, list[_Row]] = {}
        for row in rows:
            by_tag.setdefault(row.codes.tag, []).append(row)
        tagless = by_tag.pop(untagged, [])
        if not by_tag:
            self._merge_into_one(hash_, tagless, [])
        seen = tagless
        for number, tagged in enumerate(by_tag.values()):
            # What names no tag goes into the first, and is seen in the others too.
            mine = tagless if number == 0 else []
            self._merge_into_one(hash_, [*tagged, *mine], seen)
            if number == 0:
                seen = self._different(tagless)

    def _different(self, rows: Sequence[_Row]) -> list[_Row]:
        """Keep one of the rows that add the same to a row, so that no tag sees all of them."""
        different: dict[tuple[int | bool, ...], _Row] = {}
        for row in rows:
            codes = row.codes
            look = codes.package, codes.version, codes.arch, codes.stack_set
            key = (*look, codes.presence, codes.unlisted, row.size is None)
            different.setdefault(key, row)
        if len(different) < len(rows):
            self._mark_merged(*(row.codes.document for row in rows))
        return list(different.values())

    def _merge_into_one(self, hash_: str, rows: Sequence[_Row], seen: Sequence[_Row]) -> None:
        kept = min(rows, key=self._rank)
        others = [row for row in rows if self._is_of_another_document(row, kept)]
        gone = [row for row in others if self._is_same(row, kept)]
        seen = [row for row in seen if self._is_same(row, kept)]
        if len(gone) < len(others):
            documents = [row.codes.document for row in (kept, *others)]
            self._mark_merged(*documents)
            other = self._origin(documents[1])
            self._say(documents[0], f"hash {hash_} is another spec in {other}")
        joined = list(dict.fromkeys([kept, *gone, *seen]))
        if len(joined) == 1:
            return
        unlisted = min(row.codes.unlisted for row in joined)
        codes = kept.codes.with_codes(
            tag=rows[0].codes.tag,
            unlisted=unlisted,
            stack_set=self._joined_stacks(joined),
            # A source that lists it only as a dependency does not offer it.
            presence=self._joined_presence([r for r in joined if r.codes.unlisted == unlisted]),
        )
        sizes = (row.size for row in joined if row.size is not None)
        code = self._look_alikes.setdefault(codes, len(self._look_alikes))
        self._changed.append((code, next(sizes, None), kept.nth))
        self._merged.update((row.nth, kept.nth) for row in gone)
        self._mark_merged(*(row.codes.document for row in joined))

    def _rank(self, row: _Row) -> tuple[int, bool, int]:
        document = row.codes.document
        return row.codes.unlisted, not self._documents[document].lists_dependencies, row.nth

    def _is_same(self, row: _Row, kept: _Row) -> bool:
        """Tell whether two records say the same of what all documents spell alike."""
        one, two = row.codes, kept.codes
        is_same = one.package == two.package and one.version == two.version
        arches = [self._dictionaries.entry("arch", codes.arch)[1:] for codes in (one, two)]
        return bool(is_same and arches[0] == arches[1])

    def _is_of_another_document(self, row: _Row, kept: _Row) -> bool:
        """Tell whether another document says it, which is no page of the same source."""
        one, two = (self._documents[r.codes.document] for r in (row, kept))
        is_alike = one.is_page and two.is_page and one.source == two.source
        return one is not two and not is_alike

    def _joined_stacks(self, rows: Sequence[_Row]) -> int:
        stacks = (self._dictionaries.entry("stack_set", row.codes.stack_set) for row in rows)
        return self._dictionaries["stack_set"][tuple(sorted(set(chain.from_iterable(stacks))))]

    def _joined_presence(self, rows: Sequence[_Row]) -> int:
        found = [self._dictionaries.entry("presence", row.codes.presence) for row in rows]
        sources = sorted({source for sources, _ in found for source in sources})
        states = {state for _, states in found for state in states}
        if any("needed" not in own for _, own in found):
            states.discard("needed")
        return self._dictionaries["presence"][
            tuple(sources), tuple(s for s in STATES if s in states)
        ]

    def _mark_merged(self, *documents: int) -> None:
        for document in documents:
            self._documents[document].is_merged = True

    def _say(self, document: int, reason: str) -> None:
        self._connection.execute(
            "INSERT INTO problem (source, document, origin, place, reason)"
            " VALUES (?, ?, ?, '', ?)",
            (self._documents[document].source, document, self._origin(document), reason),
        )

    def _origin(self, document: int) -> str:
        return storable(self._documents[document].document.origin)


def _content(codes: Codes) -> Codes:
    """Return the codes of a look-alike in any document."""
    return codes.with_codes(document=0)

"""Describe run-time kinds in one line each, and the rows of look-alikes by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.core.variants import spell_signs, spell_variant
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.listing import Listing
from spackscope.model.index.rows import Row
from spackscope.model.index.view import RowRole

if TYPE_CHECKING:
    from spackscope.model.analysis.kinds import Kind
    from spackscope.model.analysis.varying import Cell, ComparedRow


BUILD_TOOLS_ONLY = "build tools only"
ALL_RUN_THE_SAME = f"{BUILD_TOOLS_ONLY}: all run the same"
UNLISTED = "not listed"
"""Stands for what a source does not list, as pages do not list dependencies."""

MAX_PHRASES = 5
"""Differences that a line names; the others are counted."""


def differing_lines(rows: Sequence[ComparedRow], sizes: Sequence[int]) -> list[str]:
    """Return a line for each column: how it differs from most of the others.

    `sizes` has the number of specs that each column stands for. A column that has what most have
    says so of its builds, if there are several, or else what tells the others apart.
    """
    rows = [row for row in rows if row.tells or not row.follows]
    usual: list[Cell] = []
    for row in rows:
        counts: Counter[Cell] = Counter()
        for value, size in zip(row.values, sizes, strict=True):
            counts[value] += size
        # Of equally many the first.
        usual.append(counts.most_common(1)[0][0])
    lines: list[str] = []
    before: list[str] = []
    for column, size in enumerate(sizes):
        # That a package is missing has a row of its own.
        stated = [
            (row, most)
            for row, most in zip(rows, usual, strict=True)
            if row.values[column] is not None or row.attribute in ("present", "provider")
        ]
        differing = [(row, most) for row, most in stated if row.values[column] != most]
        phrases = list(dict.fromkeys(clean(phrase(row, column, most)) for row, most in differing))
        more = [each for each in phrases if each not in before]
        if not phrases:
            telling = [clean(phrase(row, column)) for row, _ in stated if row.tells]
            lines.append(ALL_RUN_THE_SAME if size > 1 else _listed(telling))
        elif before and len(phrases) > len(before) and set(before) <= set(phrases):
            lines.append(f"the same, and {_listed(more)}")
        else:
            others = ""
            for row, most in differing if len(phrases) == 1 else ():
                rest = {*row.values[:column], *row.values[column + 1 :]}
                if row.attribute == "version" and row.values[column] and most and rest == {most}:
                    others = f", others {clean(', '.join(most))}"
            lines.append(_listed(phrases) + others)
        before = phrases
    return lines


def telling_packages(rows: Sequence[ComparedRow]) -> str:
    """Return the packages, or virtuals, by which kinds are told apart."""
    return ", ".join(dict.fromkeys(clean(row.package) for row in rows if row.tells))


def _listed(phrases: Sequence[str]) -> str:
    """Join phrases, of which those of one package name it once."""
    values: dict[str, list[str]] = {}
    for text in phrases[:MAX_PHRASES]:
        first, _, rest = text.partition(" ")
        is_package = first not in ("with", "without", "no")
        values.setdefault(first if is_package else text, []).append(rest if is_package else "")
    texts = [" ".join(filter(None, (name, *rest))) for name, rest in values.items()]
    more = len(phrases) - MAX_PHRASES
    return ", ".join([*texts, f"{more} more"] if more > 0 else texts)


def phrase(row: ComparedRow, column: int, usual: Cell = None) -> str:
    """Return the value of a column with its package, as in `mpich +hwloc`; not cleaned.

    Of several values of a variant only those are named that the usual ones lack, or have besides.
    """
    cell, package, kind = row.values[column], row.package, row.attribute
    name = kind.removeprefix("variant:")
    if kind == "present":
        return f"without {package}" if cell is None else f"with {package} {', '.join(cell)}"
    if kind == "provider":
        return f"no {package}" if not cell else ", ".join(cell).replace("@", " ")
    if cell is None:
        return f"no {package}"
    if not cell:
        return f"{package} without {name}"
    text = ",".join(cell)
    if kind == "version":
        return f"{package} {text}"
    if kind != name:
        differing = [value for value in cell if value not in (usual or ())]
        differing += (value for value in usual or () if value not in cell)
        if usual and len(differing) <= len(cell) > 1:
            return f"{package} {name} {spell_signs(differing, cell)}"
        return f"{package} {spell_variant(name, cell)}"
    if len(row.packages) > 1:
        return f"{name} {text}"
    if kind in ("package_hash", "patches"):
        digests = ",".join(digest[:SHORT_HASH] for digest in cell)
        return f"{package} {'recipe' if kind == 'package_hash' else kind} {digests}"
    return f"{package} {name.replace('_', ' ')} {text}"


# The analyses are imported in the thread that needs them, after the first rows are shown.

_BYTES_OF_AN_ID = 100

MAX_COMPARED = 500
"""Kinds of a group, or specs of a kind, that are compared: real ones are a hundred."""


class RowNote(NamedTuple):
    """The texts of a row that are not in its record.

    `users` is the number of specs that depend on it, None if no dependencies are listed; `kinds`
    stands in place of the hash of several kinds, and `differs` says what its specs differ in. A
    note that is not `is_whole` is to be read again with `whole`.
    """

    users: int | None = None
    kinds: str = ""
    differs: str = ""
    is_whole: bool = True


NoteKey = tuple[int, RowRole, int]
"""The id, the role and the count of a row: what its note belongs to."""


def note_key(row: Row) -> NoteKey:
    """Return the key under which the note of a row is kept."""
    return row.id, row.role, row.count


def row_notes(catalog: Catalog) -> RowNotes:
    """Return the notes on the rows of a catalog, which are computed once."""
    return catalog.cached(RowNotes)


class RowNotes:
    """Computes notes in worker threads, and keeps the kinds of some groups."""

    def __init__(self, catalog: Catalog) -> None:
        from spackscope.model.analysis.dag import dag_of

        self._graph = dag_of(catalog)
        self._kinds: BoundedCache[tuple[int, ...], tuple[Kind, ...]] = BoundedCache(
            lambda kinds: _BYTES_OF_AN_ID * sum(len(kind.ids) for kind in kinds)
        )
        self._comparisons: BoundedCache[tuple[int, ...], list[str]] = BoundedCache(
            lambda texts: sum(map(len, texts))
        )

    def kinds(self, ids: Sequence[int], *, should_stop: ShouldStop = never) -> tuple[Kind, ...]:
        """Return the run-time kinds of look-alikes. Raises Cancelled."""
        from spackscope.model.analysis.kinds import run_kinds

        return self._kinds.get(
            tuple(ids), lambda: run_kinds(self._graph, ids, should_stop=should_stop)
        )

    def partition(self, ids: Sequence[int]) -> Sequence[Sequence[int]]:
        """Return the specs of each kind; empty if their source lists no dependencies."""
        kinds = self.kinds(ids)
        return [kind.ids for kind in kinds] if all(kind.is_known for kind in kinds) else ()

    def of(
        self, listing: Listing, rows: Iterable[Row], *, should_stop: ShouldStop = never
    ) -> dict[NoteKey, RowNote]:
        """Return the notes on some rows of a listing, those of folded kinds not whole.

        Raises Cancelled.
        """
        notes = {}
        for row in rows:
            if should_stop():
                raise Cancelled
            notes[note_key(row)] = self._note(listing, row, should_stop)
        return notes

    def whole(
        self,
        listing: Listing,
        rows: Iterable[Row],
        notes: Mapping[NoteKey, RowNote],
        *,
        should_stop: ShouldStop = never,
    ) -> dict[NoteKey, RowNote]:
        """Complete the notes that were not whole with what the kinds differ in."""
        whole = {}
        for row in rows:
            note = notes[note_key(row)]
            if not note.is_whole:
                kinds = self.kinds(listing.look_alike_ids(row.look_alike))
                packages, *_ = self._compared([kind.ids for kind in kinds], should_stop)
                whole[note_key(row)] = note._replace(differs=packages, is_whole=True)
        return whole

    def _note(self, listing: Listing, row: Row, should_stop: ShouldStop) -> RowNote:
        if not self._graph.lists_dependencies(row.id):
            return RowNote(None, "", UNLISTED if row.count > 1 else "")
        if row.role is RowRole.SPEC and row.count == 1:
            return RowNote(len(self._graph.dependents(row.id)))
        kinds = self.kinds(listing.look_alike_ids(row.look_alike), should_stop=should_stop)
        if row.role in (RowRole.SPEC, RowRole.GROUP):
            users, is_open = sum(kind.total_users for kind in kinds), row.role is RowRole.GROUP
            if len(kinds) == 1:
                return RowNote(users, "", ALL_RUN_THE_SAME if is_open else BUILD_TOOLS_ONLY)
            return RowNote(users, f"{len(kinds):,} kinds", "", is_whole=is_open)
        number = next(number for number, kind in enumerate(kinds) if row.id in kind.ids)
        kind = kinds[number]
        if row.role is RowRole.MEMBER:
            at = kind.ids.index(row.id)
            _, *lines = self._compared([(id_,) for id_ in kind.ids], should_stop, run_only=False)
            return RowNote(kind.users[at], "", lines[at])
        _, *lines = self._compared([kind.ids for kind in kinds], should_stop)
        return RowNote(kind.total_users, "", lines[number])

    def _compared(
        self, groups: Sequence[tuple[int, ...]], should_stop: ShouldStop, *, run_only: bool = True
    ) -> list[str]:
        """Return the packages that tell groups apart, and then a line on each group."""
        from spackscope.model.analysis.varying import varying

        def compute() -> list[str]:
            if len(groups) > MAX_COMPARED:
                return ["", *[f"one of {len(groups):,}, too many to compare"] * len(groups)]
            rows = varying(self._graph, groups, run_only=run_only, should_stop=should_stop)
            return [telling_packages(rows), *differing_lines(rows, list(map(len, groups)))]

        key = (int(run_only), *(id_ for ids in groups for id_ in ids))
        return self._comparisons.get(key, compute)

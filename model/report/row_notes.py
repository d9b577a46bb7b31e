"""Describe run-time kinds, and rows of look-alikes, in one line each."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, count
from operator import ne
from typing import Any, NamedTuple, cast

from spackscope.model.analysis.dag import Walker, dag_of
from spackscope.model.analysis.differences import Cell, Difference, compare_specs
from spackscope.model.analysis.kinds import Kind, run_kinds
from spackscope.model.core.columns import BY_NAME, INDEXES, STORED
from spackscope.model.core.records import short_digests, variant_key
from spackscope.model.core.tasks import BoundedCache, check_cancelled
from spackscope.model.core.text import cell_width, clean, cut_words
from spackscope.model.index.catalog import Catalog, Listing, Row
from spackscope.model.index.evaluate import unique_end
from spackscope.model.index.order import RowRole, ShownValues
from spackscope.model.report.detail import Members
from spackscope.model.report.differences import pair_texts
from spackscope.model.report.report import path_text
from spackscope.model.report.table_columns import (
    UNLIKE_OTHERS,
    cut_value,
    flowing_variants,
    signed,
    variants_by_name,
)

ONLY_BUILD_TOOLS = "only build tools"
BETWEEN = ", "
"""The text between two differences of a note, as between two values of a list."""

MAX_PHRASES = 5
"""Differences that a line names; the others are counted."""


def differing_lines(rows: Sequence[Difference], sizes: Sequence[int]) -> list[str]:
    """Return a line for each column: its differences from most other columns.

    `sizes` has the number of specs in each column. If a column has the most common values, its
    line says that only its build dependencies differ, or names the values of a single spec.
    """
    rows = [row for row in rows if row.tells or not row.follows]
    usual: list[Cell] = []
    for row in rows:
        counts: Counter[Cell] = Counter()
        for value, size in zip(row.values, sizes, strict=True):
            counts[value] += size
        # Of equally common values the first.
        usual.append(counts.most_common(1)[0][0])
    lines: list[str] = []
    before: list[str] = []
    for column, size in enumerate(sizes):
        # A missing package has a row of its own.
        stated = [
            (row, most)
            for row, most in zip(rows, usual, strict=True)
            if row.values[column] is not None or row.attribute in ("present", "provider")
        ]
        differing = [(row, most) for row, most in stated if row.values[column] != most]
        # The rarest values come first, before a line is cut.
        differing.sort(key=lambda pair: pair[0].values.count(pair[0].values[column]))
        phrases = list(dict.fromkeys(clean(phrase(row, column, most)) for row, most in differing))
        more = [each for each in phrases if each not in before]
        if not phrases:
            telling = [clean(phrase(row, column)) for row, _ in stated if row.tells]
            lines.append(ONLY_BUILD_TOOLS if size > 1 else _listed(telling))
        elif before and len(phrases) > len(before) and set(before) <= set(phrases):
            lines.append(f"the same, and {_listed(more)}")
        else:
            others = ""
            for row, most in differing if len(phrases) == 1 else ():
                rest = {*row.values[:column], *row.values[column + 1 :]}
                if row.attribute == "version" and row.values[column] and most and rest == {most}:
                    others = f", others {clean(', '.join(most))}"
                    if len(row.path) > 1:
                        others += f" · {path_text(row.path[:-1])}"
            lines.append(_listed(phrases) + others)
        before = phrases
    return lines


def _listed(phrases: Sequence[str]) -> str:
    """Join phrases, and name each package once."""
    values: dict[str, list[str]] = {}
    for text in phrases[:MAX_PHRASES]:
        first, _, rest = text.partition(" ")
        is_package = first not in ("with", "without", "no")
        values.setdefault(first if is_package else text, []).append(rest if is_package else "")
    texts = [" ".join(filter(None, (name, *rest))) for name, rest in values.items()]
    more = len(phrases) - MAX_PHRASES
    return ", ".join([*texts, f"{more} more"] if more > 0 else texts)


def phrase(row: Difference, column: int, usual: Cell = None) -> str:
    """Return the value of a column with its package, as in `mpich +hwloc`; not cleaned.

    Of several values of a variant only the differences from the `usual` values are named.
    """
    cell, package, kind = row.values[column], row.package, row.attribute
    if kind == "present":
        return f"without {package}" if cell is None else f"with {package} {', '.join(cell)}"
    if kind == "provider":
        return f"no {package}" if not cell else ", ".join(cell).replace("@", " ")
    if cell is None:
        return f"no {package}"
    if not cell:
        return f"{package} without {kind.removeprefix('variant:')}"
    label, text, _ = pair_texts(row._replace(values=(cell, usual)))
    return " ".join(filter(None, ("" if len(row.packages) > 1 else package, label, text)))


_BYTES_OF_AN_ID = 100
_NEAR = 100
"""Look-alikes on each side, in their order, among which the most similar one is searched for."""
_OF_ALL = ("package", "variants", INDEXES.name)
_LAST = ("+patches", "namespace", "flags", "source", "state")
"""Columns that are named only if nothing else sets a row apart."""

MAX_COMPARED = 500
"""Kinds of a group, or specs of a kind, that are compared: real ones are a hundred."""


class RowNote(NamedTuple):
    """The texts of a row that are not in its record.

    `users` counts the dependents of the row, None if no dependencies are listed. `misfit` is the
    reason why the build of the row does not run on the host. `unlike` are the values in no other
    column that set the row apart from other rows: a build of an open group from the other builds.
    """

    users: int | None = None
    unlike: tuple[str, ...] = ()
    misfit: str = ""


NoteKey = tuple[int, RowRole, int]
"""The id, the role and the count of the row of a note."""


def note_key(row: Row) -> NoteKey:
    """Return the key under which the note of a row is kept."""
    return row.id, row.role, row.count


def row_notes(catalog: Catalog) -> RowNotes:
    """Return the notes on the rows of a catalog, which are computed once."""
    return catalog.cached(RowNotes)


def members_of(row: Row, ids: Sequence[int]) -> Members:
    """Read how the specs of a row run, and why the row shows one of them. Raises Cancelled."""
    if len(ids) < 2:
        return Members((row.id,))
    kinds = row_notes(row.catalog).kinds(ids)
    if not all(kind.is_known for kind in kinds):
        return Members(tuple(ids), 0)
    users = {id_: count for kind in kinds for id_, count in zip(kind.ids, kind.users, strict=True)}
    by_host, limit = row.catalog.by_host, ""
    if by_host.has_host and by_host.answers.brief(row.id).fits:
        running = {id_: n for id_, n in users.items() if by_host.answers.brief(id_).fits}
        limit = " that runs here," if running.keys() < users.keys() else ""
        users = running
    most = "most used" if users[row.id] > min(users.values()) else "one"
    return Members(tuple(ids), len(kinds), most + limit)


class _Package:
    """The values of the look-alikes of a package in a listing, and the cells that a table shows.

    Each look-alike has a text for each of `names`, the most telling first; "" for no value.
    """

    def __init__(self, values: ShownValues, look_alike: int, widths: Mapping[str, int]) -> None:
        of_package = values.of_package(look_alike)
        numbers = list(of_package.specs.numbers)
        sets = cast(Sequence[tuple[str, ...]], values.column_values("variants", numbers))
        variants = list(map(variants_by_name, sets))
        varying = of_package.varying_variants
        columns = [c for stored in STORED.values() for c in stored if c.name not in _OF_ALL]
        texts = {
            **{f"+{v}": [variant_key(each.get(v, "")) for each in variants] for v in varying},
            **{
                column.name: list(map(column.cell, own))
                for column in columns
                if len(set(own := _values(values, column.name, numbers))) > 1
            },
        }
        self.names = [name for name, each in texts.items() if len(set(each)) > 1]
        self.names.sort(key=_LAST.__contains__)
        self._patches = {text for text in texts.get("+patches", ()) if text}
        self._numbers = numbers
        stated = [texts[name] for name in self.names]
        self._stated = [tuple(each[at] for each in stated) for at in range(len(numbers))]
        self._widths = widths
        self._has_width = [name in widths for name in self.names]
        shown = [
            [cut_value(name, text, widths[name]) for text in texts[name]]
            for name in compress(self.names, self._has_width)
        ]
        if "variants" in widths:
            counts, width = of_package.variants, widths["variants"]
            flowing = (flowing_variants(each.values(), varying, counts) for each in variants)
            shown.append([cut_words(" ".join(parts).strip(), width) for parts in flowing])
        self._cells = [tuple(each[at] for each in shown) for at in range(len(numbers))]
        self._alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for at, cells in enumerate(self._cells):
            self._alike[cells].append(at)
        self._first_phrases: dict[tuple[str, ...], dict[tuple[int, str], int]] = defaultdict(dict)

    def apart(self, look_alike: int) -> tuple[list[str], bool]:
        """Return values that set a look-alike apart, and whether the table's cells do so already.

        A look-alike with the same cells as others is set apart from all of them, by the values
        that the fewest have; any other from the most similar one, by values that no cell shows.
        """
        at = bisect_left(self._numbers, look_alike)
        mine, rivals = self._stated[at], self._alike[self._cells[at]]
        is_alone = len(rivals) == 1
        near = (
            range(max(0, at - _NEAR), min(at + _NEAR, len(self._numbers))) if is_alone else rivals
        )
        others = [self._stated[n] for n in near[:MAX_COMPARED] if n != at]
        if not others:
            return [], True
        if is_alone:
            nearest = min(others, key=lambda other: self._distance(mine, other))
            differing = compress(count(), map(ne, mine, nearest))
            return self._phrases(mine, [n for n in differing if not self._is_shown(at, n)]), True
        chosen: list[int] = []
        while others:
            telling = [n for n, text in enumerate(mine) if any(o[n] != text for o in others)]
            if not telling:
                break
            # Values are more telling than missing values.
            shared = [(not mine[n], sum(o[n] == mine[n] for o in others), n) for n in telling]
            *_, rarest = min(shared)
            chosen.append(rarest)
            others = [other for other in others if other[rarest] == mine[rarest]]
        # If there is room for only one phrase, no other row should have the same.
        taken = self._first_phrases[self._cells[at]]
        first = next((n for n in chosen if taken.setdefault((n, mine[n]), at) == at), None)
        if first is not None:
            chosen = [first, *(n for n in chosen if n != first)]
        return self._phrases(mine, chosen, rivals[:MAX_COMPARED]), False

    def _is_shown(self, at: int, number: int) -> bool:
        """Check whether a cell shows the value of a look-alike for a name."""
        name, text = self.names[number], self._stated[at][number]
        if name[:1] == "+" and "variants" in self._widths:
            return short_digests(text) in self._cells[at][-1].rstrip("…").split()
        return name in self._widths

    def _distance(self, one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
        """Return in how many shown columns two look-alikes differ, and in how many of all."""
        differing = list(map(ne, one, other))
        return sum(compress(differing, self._has_width)), sum(differing)

    def _phrases(
        self, stated: Sequence[str], numbers: Sequence[int], rivals: Sequence[int] = ()
    ) -> list[str]:
        """Return values by their numbers; a list begins with what the fewest `rivals` have."""
        texts = []
        for number in numbers:
            name, text = self.names[number], stated[number]
            if name == "+patches" and self._patches == {text}:
                # People cannot read the digest, and no other build has patches.
                count = 1 + text.count(",")
                texts.append("a patch" if count == 1 else f"{count} patches")
            elif name[:1] == "+":
                texts.append(clean(short_digests(text) or f"no {name[1:]}"))
            elif not text:
                texts.append(f"no {name}")
            else:
                values = [self._stated[rival][number].split(BETWEEN) for rival in rivals]
                rarity = Counter(chain.from_iterable(values))
                own = sorted(text.split(BETWEEN), key=rarity.__getitem__)
                texts.append(signed(name, BETWEEN.join(own)))
        # Values come before missing values.
        return sorted(texts, key=lambda text: text.startswith("no "))


def _values(values: ShownValues, column: str, numbers: Sequence[int]) -> Sequence[Any]:
    """Return the values of look-alikes in a column; sources are named as in the title."""
    own = values.column_values(column, numbers)
    if column != "source":
        return own
    names = {*chain.from_iterable(cast(Sequence[Sequence[str]], values.all_values(column)))}
    return [tuple(unique_end(name, names) for name in cast(Sequence[str], its)) for its in own]


_OF_FIELDS = ("platform", "target", "os")
"""Rules whose columns have the value that breaks them."""


def _with_misfit(note: RowNote, row: Row, columns: Collection[str], width: int | None) -> RowNote:
    """Add the reason why a build does not run on the host, unless one of the `columns` has it.

    It comes first, unless there are rows with the same cells, and what sets them apart would have
    no room beside it in `width` cells.
    """
    by_host = row.catalog.by_host
    fit = by_host.answers.brief(row.id) if by_host.has_host else None
    if fit is None or fit.fits is not False:
        return note
    reason = next(each for each in fit.reasons if each.is_run and not each.rule.is_unknown)
    name, misfit = reason.rule.name, clean(re.split(" > |, ", reason.label)[0])
    if name in _OF_FIELDS and not reason.of_dependency:
        misfit = BY_NAME[name].cell(BY_NAME[name].value(row.spec))
    others = tuple(each for each in note.unlike if each != misfit)
    if name in columns:
        return note._replace(unlike=others, misfit=misfit)
    first = (misfit, *others)
    has_room = width is None or cell_width(BETWEEN.join(first)) <= width
    return note._replace(unlike=first if has_room else (*others, misfit), misfit=misfit)


class RowNotes:
    """Computes notes in worker threads, and keeps the kinds of some groups."""

    def __init__(self, catalog: Catalog) -> None:
        self._graph = dag_of(catalog)
        self._kinds: BoundedCache[tuple[int, ...], tuple[Kind, ...]] = BoundedCache(
            lambda kinds: _BYTES_OF_AN_ID * sum(len(kind.ids) for kind in kinds)
        )
        self._comparisons: BoundedCache[tuple[int, ...], list[str]] = BoundedCache(
            lambda texts: sum(map(len, texts))
        )
        # The values and widths of the rows that were shown last.
        self._shown: tuple[ShownValues, Mapping[str, int]] | None = None
        self._packages: dict[str, _Package] = {}

    def kinds(self, ids: Sequence[int]) -> tuple[Kind, ...]:
        """Return the run-time kinds of look-alikes. Raises Cancelled."""
        return self._kinds.get(tuple(ids), lambda: run_kinds(self._graph, ids))

    def partition(self, ids: Sequence[int]) -> Sequence[Sequence[int]]:
        """Return the specs of each kind; empty if their source lists no dependencies."""
        kinds = self.kinds(ids)
        return [kind.ids for kind in kinds] if all(kind.is_known for kind in kinds) else ()

    def of(
        self, listing: Listing, rows: Iterable[Row], widths: Mapping[str, int] | None = None
    ) -> dict[NoteKey, RowNote]:
        """Return the notes on some rows of a listing.

        `widths` has the columns that a table shows, each with its width. Raises Cancelled.
        """
        notes = {}
        packages = self._packages if self._shown == (listing.values, widths) else {}
        for row in rows:
            check_cancelled()
            note = self._note(listing, row)
            if widths is not None and row.role in (RowRole.SPEC, RowRole.GROUP):
                package = row.spec.package
                if package not in packages:
                    packages[package] = _Package(listing.values, row.look_alike, widths)
                apart, is_alone = packages[package].apart(row.look_alike)
                is_alone = is_alone and not note.unlike
                # What sets a build apart from look-alikes in rows of their own comes first.
                note = note._replace(unlike=(*note.unlike, *apart))
                width = None if is_alone else widths.get(UNLIKE_OTHERS, 0)
                note = _with_misfit(note, row, {*widths, *listing.values.constants}, width)
            notes[note_key(row)] = note
        if widths is not None:
            self._shown, self._packages = (listing.values, widths), packages
        return notes

    def telling(self, ids: Sequence[int]) -> str:
        """Return the packages in which the kinds of look-alikes differ. Raises Cancelled."""
        packages, *_ = self._compared([kind.ids for kind in self.kinds(ids)])
        return packages

    def _note(self, listing: Listing, row: Row) -> RowNote:
        if not self._graph.lists_dependencies(row.id):
            return RowNote()
        alike = listing.look_alike_ids(row.look_alike)
        if row.role in (RowRole.SPEC, RowRole.GROUP):
            users = sum(len(self._graph.dependents(id_)) for id_ in listing.ids_of(row))
            if row.count > 1 or len(alike) == 1 or listing.view.folded:
                return RowNote(users)
            _, *lines = self._compared([(id_,) for id_ in alike], run_only=False)
            return RowNote(users, (lines[alike.index(row.id)],))
        kinds = self.kinds(alike)
        number = next(number for number, kind in enumerate(kinds) if row.id in kind.ids)
        kind = kinds[number]
        if row.role is RowRole.MEMBER:
            at = kind.ids.index(row.id)
            _, *lines = self._compared([(id_,) for id_ in kind.ids], run_only=False)
            return RowNote(kind.users[at], (lines[at],))
        _, *lines = self._compared([kind.ids for kind in kinds])
        return RowNote(kind.total_users, (lines[number],))

    def _compared(self, groups: Sequence[tuple[int, ...]], *, run_only: bool = True) -> list[str]:
        """Return the packages that tell groups apart, and then a line on each group."""

        def compute() -> list[str]:
            if len(groups) > MAX_COMPARED:
                return ["", *[f"one of {len(groups):,} groups, too many to compare"] * len(groups)]
            ids = [first for first, *_ in groups]
            rows = compare_specs(Walker(self._graph), ids, run_only=run_only)
            telling = dict.fromkeys(clean(row.package) for row in rows if row.tells)
            return [", ".join(telling), *differing_lines(rows, list(map(len, groups)))]

        key = (int(run_only), *(id_ for ids in groups for id_ in ids))
        return self._comparisons.get(key, compute)

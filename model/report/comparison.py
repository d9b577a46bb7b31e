"""Lay out specs side by side: a column for each spec, a row for each attribute that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from string import ascii_lowercase
from typing import Literal

from spackscope.model.analysis.dag import Dag
from spackscope.model.analysis.follows import follows
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.analysis.varying import UNKNOWN, Cell, ComparedRow, Part, all_values, varying
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.core.text import cell_width, clean, counted
from spackscope.model.core.variants import spell_signs, spell_value
from spackscope.model.report.differences import (
    ATTRIBUTE_LABELS,
    BUILD_DEPENDENCIES,
    NOT_LISTED,
    NOTHING_DIFFERS,
    RUN_DEPENDENCIES,
    build_only_section,
)
from spackscope.model.report.kinds import ONLY_BUILD_DIFFERS
from spackscope.model.report.progress import fitting
from spackscope.model.report.report import Column, Piece, Row, Section, Style, path_text, styled
from spackscope.model.report.spec_list import spec_rows

PART_HEADS: dict[Part, str] = {
    "own": "the specs themselves",
    "run": RUN_DEPENDENCIES,
    "build": BUILD_DEPENDENCIES,
}
BUILD, USED_BY = "build", "used by"
"""The groups of the line that folds what only builds the specs, and of the row of their users."""


class ComparedSpec(Frozen):
    """A column: a spec, and the ids of those compared that it stands for, if these are several.

    `users` counts the specs that use one of these; None if no source lists them.
    """

    id: int
    hash: str
    alike: tuple[int, ...] = ()
    users: int | None = None
    user_names: tuple[str, ...] = ()


class ComparedTable(Frozen):
    """Specs side by side.

    `total` counts the hashes that were compared, `left_out` those that were not, because there
    are too many, and `kinds` the run-time kinds. `rows` are those of the specs and of what they
    link or run, `build_rows` those of what only builds them; each is None until it is read, or if
    no source lists it. `lists_dependencies` is for each spec whether its source does.
    """

    title: str
    specs: tuple[ComparedSpec, ...]
    total: int
    lists_dependencies: tuple[bool, ...] = ()
    rows: tuple[ComparedRow, ...] | None = None
    build_rows: tuple[ComparedRow, ...] | None = None
    left_out: int = 0
    kinds: int = 1

    @property
    def runs_the_same(self) -> bool:
        """Whether it is known that all run the same."""
        return self.kinds == 1 and bool(self.lists_dependencies) and all(self.lists_dependencies)

    def column_of(self, id_: int) -> int:
        """Return the column that stands for a spec; the first one if none does."""
        numbers = (n for n, spec in enumerate(self.specs) if id_ in (spec.id, *spec.alike))
        return next(numbers, 0)

    @property
    def summary(self) -> str:
        """How many of the hashes have a column, and which columns stand for several."""
        count = len(self.specs)
        parts = [f"{count:,} of {self.total:,}" if count < self.total else counted(count, "spec")]
        folded = sorted((s for s in self.specs if len(s.alike) > 1), key=lambda s: -len(s.alike))
        for spec in folded[:2]:
            others = len(spec.alike) - 1
            verb = "is" if others == 1 else "are"
            parts.append(f"{others:,} more {verb} like {spec.hash[:SHORT_HASH]}")
        if len(folded) > 2:
            parts.append("…")
        if self.left_out:
            parts.append(f"{self.left_out:,} not compared")
        return " · ".join(parts)


def rows_in_sight(
    table: ComparedTable, *, shows_build: bool = False, shows_equal: bool = False
) -> list[ComparedRow]:
    """Return the rows that differ; if asked to, then what follows from them, and what is equal."""
    rows = [*(table.rows or ()), *((table.build_rows or ()) if shows_build else ())]
    if not shows_equal:
        return [row for row in rows if not (row.is_equal or row.follows)]
    return sorted(rows, key=lambda row: (row.is_equal, bool(row.follows)))


def grouped(table: ComparedTable, rows: Sequence[ComparedRow]) -> ComparedTable:
    """Let the first of the columns that are alike in some rows stand for them, unless all are."""
    groups: dict[tuple[Cell, ...], list[int]] = {}
    for number in range(len(table.specs)):
        groups.setdefault(tuple(row.values[number] for row in rows), []).append(number)
    if len(groups) in (1, len(table.specs)):
        return table
    firsts = [numbers[0] for numbers in groups.values()]

    def spec_of(numbers: Sequence[int]) -> ComparedSpec:
        specs = [table.specs[number] for number in numbers]
        if len(specs) == 1:
            return specs[0]
        users = [spec.users for spec in specs if spec.users is not None]
        return replace(
            specs[0],
            alike=tuple(id_ for spec in specs for id_ in spec.alike or (spec.id,)),
            users=sum(users) if users else None,
            user_names=tuple(dict.fromkeys(name for spec in specs for name in spec.user_names)),
        )

    def narrowed(rows: Sequence[ComparedRow] | None) -> tuple[ComparedRow, ...] | None:
        if rows is None:
            return None
        return tuple(replace(row, values=tuple(row.values[n] for n in firsts)) for row in rows)

    return replace(
        table,
        specs=tuple(map(spec_of, groups.values())),
        lists_dependencies=tuple(table.lists_dependencies[n] for n in firsts),
        rows=narrowed(table.rows),
        build_rows=narrowed(table.build_rows),
    )


def row_key(row: ComparedRow) -> str:
    """Return what tells a row of a table from the others."""
    return f"{row.part} {row.package} {row.attribute}"


def table_section(
    table: ComparedTable,
    width: int,
    *,
    shows_build: bool = False,
    shows_equal: bool = False,
    sign: str = "",
) -> Section:
    """Return a table for the screen: own values, what is linked or run, what only builds, users.

    Its columns are scrolled. The `sign` comes before what differs, where there are no colours.
    """
    in_sight = rows_in_sight(table, shows_build=shows_build, shows_equal=shows_equal)
    tells = any(table.lists_dependencies)
    lines: list[Row] = []

    def add(part: Part) -> bool:
        """Add the rows of a part, and how many follow from them; return whether any differ."""
        rows = [row for row in in_sight if row.part == part]
        lines.extend(_table_row(row, sign) for row in rows)
        every = [*(table.rows or ()), *(table.build_rows or ())]
        more = sum(bool(r.follows) and not r.is_equal and r.part == part for r in every)
        if more and not shows_equal:
            verb = "follows" if more == 1 else "follow"
            lines.append(_remark(f"{more:,} more {verb} from these (= shows all)"))
        return bool(more) or any(not row.is_equal for row in rows)

    if any(row.part == "own" for row in in_sight):
        lines.append(_head(PART_HEADS["own"]))
        add("own")
    elif table.rows is not None and not tells:
        lines += [_head(PART_HEADS["own"]), _remark("nothing that is listed differs")]
    lines.append(_head(PART_HEADS["run"]))
    if table.rows is None:
        lines.append(_remark("comparing…"))
    else:
        differs = add("run")
        if not tells:
            lines.append(_remark(NOT_LISTED))
        elif not all(table.lists_dependencies):
            lines.append(_remark("? stands where a source lists no dependencies"))
        elif table.runs_the_same:
            lines.append(_remark("nothing differs: all run the same"))
        elif not differs:
            lines.append(_remark("nothing differs"))
    if table.build_rows is not None:
        differing = {row.package for row in table.build_rows if not row.is_equal}
        count = f"({counted(len(differing), 'package')})" if differing else "nothing differs"
        is_foldable = bool(differing or (shows_equal and table.build_rows))
        fold = f" {'▾' if shows_build else '▸'}" * is_foldable
        lines.append(Row((f"{PART_HEADS['build']} {count} {fold}".rstrip(),), group=BUILD))
        if shows_build:
            add("build")
    elif table.rows is not None and tells:
        lines.append(Row((f"{PART_HEADS['build']} …",), group=BUILD))
    if any(spec.users is not None for spec in table.specs):
        lines.append(_users_row(table))
    columns = (
        Column(most=max(_MIN_LABEL, width // 3), is_right=False),
        *(_VALUE._replace(head=spec.hash[:SHORT_HASH]) for spec in table.specs),
        Column(keep="start", floors=(16,), may_go=True, is_right=False),
    )
    return Section("", lines, columns=columns, scrolled=range(1, len(columns) - 1))


_MIN_LABEL = 12
_VALUE = Column(most=24, floors=(11,), is_right=False)
"""It shrinks until all fit, but leaves room for `ubuntu22.04` and `neoverse_v2`."""


def _head(text: str) -> Row:
    return Row((styled(text, "bold"),))


def _remark(text: str) -> Row:
    return Row((styled(f"  {text}", "dim"),))


def _table_row(row: ComparedRow, sign: str = "") -> Row:
    """Return a row as cells: its label, the values, and the path."""
    values = zip(value_texts(row), ranks(row.values), strict=True)
    cells = (
        styled(sign * (rank == "rare") + text, _STYLES.get(rank, "")) for text, rank in values
    )
    return Row((f"  {row_label(row)}", *cells, styled(row_path(row), "dim")), key=row_key(row))


def _users_row(table: ComparedTable) -> Row:
    """Return how many use each column, and who uses any: what most use is the one to take."""
    most = max(spec.users or 0 for spec in table.specs)
    cells = (
        styled(
            "?" if spec.users is None else f"{spec.users:,}" if spec.users else "-",
            "bold" if spec.users == most else "dim",
        )
        for spec in table.specs
    )
    names = users_text(name for spec in table.specs for name in spec.user_names)
    return Row((USED_BY, *cells, styled(names, "dim")), group=USED_BY)


Rank = Literal["common", "rare", "missing", "unknown"]
"""How a value compares with the others of its row."""

_MAX_VARYING_VALUES = 2
_MAX_NAME_IN_CELL = 6
"""Characters of the name of a variant that is in the cells; a longer one is in the label."""

_MAX_USERS = 12
"""Names of users that are shown in a row; the row is cut at the width of the screen anyway."""


def ranks(values: Sequence[Cell]) -> list[Rank]:
    """Compare the values of a row: the most common one, of several the first, and the others."""
    known = [value for value in values if value and value != UNKNOWN]
    # A Counter keeps the order of those that are equally common.
    common = Counter(known).most_common(1)[0][0] if known else None
    ranks: dict[Cell, Rank] = {UNKNOWN: "unknown", None: "missing", (): "missing"}
    return [ranks.get(value, "common" if value == common else "rare") for value in values]


def value_texts(row: ComparedRow) -> list[str]:
    """Spell the values of a row as Spack does where the row names the package only.

    `+rxm`, `api=v18`; of a variant with several values those that not all have.
    """
    # A cell of several specs has lists as one text.
    sets = [
        frozenset(",".join(cell).split(",")) if cell and cell != UNKNOWN else None
        for cell in row.values
    ]
    known, differing = [each for each in sets if each], list[str]()
    if row.attribute.startswith("variant:") and any(len(each) > 1 for each in known):
        differing = sorted(frozenset().union(*known).difference(known[0].intersection(*known)))
    is_short = 0 < len(differing) <= _MAX_VARYING_VALUES
    return [
        clean(spell_signs(differing, each))
        if each and is_short
        else value_text(row.attribute, cell, is_named=_is_named_in_cells(row))
        for each, cell in zip(sets, row.values, strict=True)
    ]


def value_text(attribute: str, cell: Cell, *, is_named: bool = True) -> str:
    """Spell a value in full, but for digests."""
    if not cell:
        return "-"
    if cell == UNKNOWN:
        return cell[0]
    is_value_alone = attribute.startswith("variant:") and not is_named
    return clean(",".join(cell) if is_value_alone else spell_value(attribute, cell))


def _is_named_in_cells(row: ComparedRow) -> bool:
    """Check for a variant whose name is in the cells: a long one would make all columns wide."""
    kind, _, name = row.attribute.partition(":")
    return kind == "variant" and row.part != "own" and len(name) <= _MAX_NAME_IN_CELL


def row_label(row: ComparedRow) -> str:
    """Return the package of a row, and its attribute where the values do not name it.

    Of the specs themselves it is the attribute alone.
    """
    kind, _, name = row.attribute.partition(":")
    label = name or ATTRIBUTE_LABELS.get(kind, kind) or kind
    if row.part == "own":
        return clean(label)
    others = f" and {len(row.packages) - 1:,} more" if len(row.packages) > 1 else ""
    if kind in ("version", "present", "provider") or _is_named_in_cells(row):
        label = ""
    return clean(f"{row.package}{others} {label}").rstrip()


def row_path(row: ComparedRow) -> str:
    """Spell the path to a package; empty for a direct dependency and for the spec itself."""
    return path_text(row.path if len(row.path) > 1 else ())


def path_in(row: ComparedRow, column: int) -> tuple[str, ...]:
    """Return the path to what a row is about in one column: each may have another provider."""
    cell = row.values[column]
    if row.attribute != "provider" or not cell or cell == UNKNOWN:
        return row.path
    return (*row.path[:-1], cell[0].partition("@")[0])


def users_text(user_names: Iterable[str]) -> str:
    """Return packages that use a spec."""
    names = dict.fromkeys(user_names)
    more = len(names) - _MAX_USERS
    return clean(" ".join([*names][:_MAX_USERS])) + (f" and {more:,} more" if more > 0 else "")


def users_sentence(spec: ComparedSpec) -> str:
    """Say which packages use the specs of a column."""
    users = users_text(spec.user_names) or "used by nothing here"
    return f"{spec.hash[:SHORT_HASH]}: {users}"


def cell_sentence(table: ComparedTable, row: ComparedRow, column: int) -> str:
    """Describe a cell in full, since its column may be too narrow for it."""
    hash_ = table.specs[column].hash[:SHORT_HASH]
    cell = row.values[column]
    if cell == UNKNOWN:
        return f"{hash_}: not listed by its source"
    text = value_text(row.attribute, cell)
    if not cell:
        is_package = row.attribute in ("version", "present")
        text = "has no such package" if is_package else "has none"
    same = f"{row.values.count(cell):,} of {len(row.values):,} the same"
    subject = clean(row.package) if row.attribute.startswith("variant:") else row_label(row)
    parts = [f"{hash_}: {subject} {text}", row_path(row), same]
    return " · ".join(part for part in parts if part)


MAX_SPECS = 200
"""Specs that are compared at once."""
_MAX_ROWS = 1_000
"""Rows of each part of a table."""
_MAX_NAMES = 50
"""Packages that are named as users of a column."""

_OWN_FIRST = ("package", "version", "compiler", "platform", "os", "target")
"""What people look for first among the attributes of the specs themselves."""


def read_comparison(
    graph: Dag,
    ids: Sequence[int],
    *,
    by_kind: bool,
    should_stop: ShouldStop,
    show: Callable[[ComparedTable], object],
) -> ComparedTable:
    """Compare specs, with a column for each run-time kind, or for each spec.

    If there is one kind only each spec has a column. The table is passed to `show` as soon as its
    columns are known, and again with each part of it. Raises Cancelled.
    """
    chosen: dict[int, int] = {}
    for id_ in ids:
        # Of the records of a hash one whose source lists dependencies, if there is any.
        other = chosen.setdefault(graph.identity(id_), id_)
        if graph.lists_dependencies(id_) and not graph.lists_dependencies(other):
            chosen[graph.identity(id_)] = id_
    compared = list(chosen.values())[:MAX_SPECS]
    kinds = run_kinds(graph, compared, should_stop=should_stop)
    by_kind = by_kind and len(kinds) > 1
    specs: list[ComparedSpec] = []
    for kind in kinds:
        if by_kind and kind.is_known:
            first = kind.ids[0]
            specs.append(ComparedSpec(first, graph.hash(first), kind.ids, kind.total_users))
            continue
        for id_, users in zip(kind.ids, kind.users, strict=True):
            known_users = users if kind.is_known else None
            specs.append(ComparedSpec(id_, graph.hash(id_), users=known_users))
    columns = [spec.id for spec in specs]
    table = ComparedTable(
        _title(graph, columns),
        tuple(specs),
        len(compared),
        tuple(map(graph.lists_dependencies, columns)),
        left_out=len(chosen) - len(compared),
        kinds=len(kinds),
    )
    show(table)
    listing = [id_ for id_ in columns if graph.lists_dependencies(id_)]

    def rows_below(part: Part, group_of: Mapping[int, int]) -> Iterator[ComparedRow]:
        """Yield what varies below the specs, and then what is equal there."""
        groups = list(dict.fromkeys(group_of.values()))
        rows = varying(
            graph,
            [[id_] for id_ in groups],
            run_only=part == "run",
            with_equal=True,
            should_stop=should_stop,
        )
        # Not what the specs themselves state.
        below = [
            row
            for row in rows
            if (row.part == "build") == (part == "build")
            and (row.path or row.attribute == "compiler")
        ]
        have_version = {row.package for row in below if row.attribute == "version"}
        for row in islice(below, _MAX_ROWS):
            if row.attribute != "present" or row.package not in have_version:
                cells = dict(zip(groups, row.values, strict=True))
                values = (cells[group_of[i]] if i in group_of else UNKNOWN for i in columns)
                follows = "" if row.tells else row.follows
                yield replace(row, values=tuple(each or None for each in values), follows=follows)

    rows = tuple(_own_rows(graph, columns))
    if listing:
        # Those of one kind link and run the same.
        first_of_kind = {id_: kind.ids[0] for kind in kinds for id_ in kind.ids}
        groups = {id_: first_of_kind[id_] for id_ in listing}
        table = replace(table, rows=(*rows, *rows_below("run", groups)))
        show(table)
        build_rows = tuple(rows_below("build", dict(zip(listing, listing, strict=True))))
        table = replace(table, build_rows=build_rows)
    else:
        table = replace(table, rows=rows)
    show(table)
    for number, spec in enumerate(specs):
        used_by = {user for id_ in spec.alike or [spec.id] for user in graph.dependents(id_)}
        names = dict.fromkeys(map(graph.name, sorted(used_by)))
        specs[number] = replace(spec, user_names=tuple(islice(names, _MAX_NAMES)))
    return replace(table, specs=tuple(specs))


def _title(graph: Dag, ids: Sequence[int]) -> str:
    """Return the package, with its version if that is the same in all."""
    packages, versions = list(dict.fromkeys(map(graph.name, ids))), set(map(graph.version, ids))
    if len(packages) > 1:
        return ", ".join(packages[:2]) + (", …" if len(packages) > 2 else "")
    return f"{packages[0]}@{versions.pop()}" if len(versions) == 1 else packages[0]


def _own_rows(graph: Dag, columns: Sequence[int]) -> Iterator[ComparedRow]:
    """Yield the attributes of the specs themselves, what people look for first."""
    values = [all_values(graph, id_) for id_ in columns]
    names = sorted(set().union(*values) - {"spec_format"})
    differing = [name for name in names if len({each.get(name) for each in values}) > 1]
    for name in sorted(
        names,
        key=lambda name: _OWN_FIRST.index(name) if name in _OWN_FIRST else 6 + (":" not in name),
    ):
        if name == "package" and name not in differing:
            continue
        leader = follows(name, differing, is_lacking=any(name not in each for each in values))
        cells = (
            each.get(name) if graph.tells(id_, name) else UNKNOWN
            for id_, each in zip(columns, values, strict=True)
        )
        yield ComparedRow("own", graph.name(columns[0]), name, tuple(cells), follows=leader)


_MAX_SHOWN = 200
_LABEL, _CELL = Column(most=32, floors=(12,), is_right=False), Column(most=20, is_right=False)
_PATH = Column(floors=(12,), may_go=True, is_right=False)
_STYLES: dict[Rank, Style] = {"common": "dim", "rare": "differs", "unknown": "dim"}


def compared_sections(
    table: ComparedTable,
    specs: Mapping[int, Spec],
    width: int | None,
    *,
    shows_build: bool,
    shows_all: bool,
) -> Iterator[Section]:
    """Yield the specs, each after the letter of its column, and then what varies between them.

    What only builds them is counted, or listed if nothing else varies. Columns that do not fit
    side by side follow below the others. `specs` has the specs by their ids.
    """

    def shown(rows: Sequence[ComparedRow] | None) -> list[ComparedRow]:
        return [
            row
            for row in rows or ()
            if (shows_all and row.part == "own" if row.is_equal else shows_all or not row.follows)
        ]

    rows, build = shown(table.rows), shown(table.build_rows)
    differing = {row.package for row in build if not row.is_equal}
    is_counted = bool(rows and differing and not shows_build)
    if not is_counted:
        rows += build
    lettered = [
        (letter, specs[id_])
        for letter, column in zip(ascii_lowercase, table.specs, strict=False)
        for id_ in column.alike or (column.id,)
    ]
    spec_lines = spec_rows((spec for _, spec in lettered), SHORT_HASH)
    if rows:
        # Without columns there is nothing that letters would name.
        letters = (styled(letter, "bold") for letter, _ in lettered)
        spec_lines = [
            Row((letter, *line.cells)) for letter, line in zip(letters, spec_lines, strict=True)
        ]
    yield Section("", spec_lines, indent="")
    yield Section(_kinds_text(table), is_apart=True)
    if not rows:
        yield Section((Piece(NOTHING_DIFFERS),))
    else:
        yield from _blocks(table, rows, width)
    if is_counted:
        yield build_only_section(len(differing))


def _kinds_text(table: ComparedTable) -> str:
    """Return how many run-time kinds there are, or that this is unknown."""
    if not all(table.lists_dependencies):
        return NOT_LISTED
    if table.runs_the_same:
        return f"{ONLY_BUILD_DIFFERS}: all {table.total:,} run the same"
    same = ": those with one letter run the same" if len(table.specs) < table.total else ""
    return f"{counted(table.total, 'spec')}, {len(table.specs):,} ways to run{same}"


def _blocks(
    table: ComparedTable, rows: Sequence[ComparedRow], width: int | None
) -> Iterator[Section]:
    """Yield tables of as many columns as fit side by side."""
    table_rows: list[Row] = []
    part: Part | None = None
    shown = rows[:_MAX_SHOWN]
    for row in shown:
        if row.part != part:
            part = row.part
            table_rows.append(_head(PART_HEADS[part]))
        table_rows.append(_table_row(row))
    if more := len(rows) - len(shown):
        table_rows.append(Row((f"and {counted(more, 'more row')}",)))
    if any(spec.users for spec in table.specs):
        table_rows.append(_users_row(table))
    texts = [row.texts for row in table_rows if len(row.cells) > 1]
    label, *widths, _ = (max(map(cell_width, column)) for column in zip(*texts, strict=True))
    for block in _fitting(min(label, _LABEL.most), [min(w, _CELL.most) for w in widths], width):
        of_block = slice(1 + block.start, 1 + block.stop)
        yield Section(
            "",
            [
                row._replace(cells=(row.cells[0], *row.cells[of_block], *row.cells[1:][-1:]))
                for row in table_rows
            ],
            columns=(_LABEL, *(_CELL._replace(head=ascii_lowercase[n]) for n in block), _PATH),
            indent="",
        )


def _fitting(label: int, widths: Sequence[int], width: int | None) -> Iterator[range]:
    """Yield the columns that fit side by side beside a label, at least one at once."""
    start, with_gaps = 0, [2 + cells for cells in widths]
    while start < len(widths):
        count = len(widths) if width is None else fitting(with_gaps[start:], width - label)
        block = range(len(widths))[start : start + max(1, count)]
        yield block
        start = block.stop

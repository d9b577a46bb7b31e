"""Lay out specs side by side: a column for each spec, a row for each attribute that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal

from spackscope.model.analysis.dag import Dag, Walk, Walker
from spackscope.model.analysis.kinds import Kind, run_kinds
from spackscope.model.analysis.varying import all_values, varying
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.core.text import cell_width, clean, counted, shorten
from spackscope.model.core.variants import short_digests, spell_signs, spell_variant
from spackscope.model.presentation.differences import ATTRIBUTE_LABELS, NOT_LISTED, path_text

Part = Literal["own", "run", "build"]
"""Where a row belongs: to the specs themselves, to what they link or run, to what builds them."""
LineKind = Literal["head", "fold", "note", "row", "users"]

MISSING = ""
"""The value of a spec that lacks what the row is about."""
UNKNOWN = "?"
"""The value of a spec whose source does not tell it."""


class ComparedSpec(Frozen):
    """A column: a spec, and the ids of those compared that run the same if it stands for them.

    `users` counts the specs that use one of these; None if no source lists them.
    """

    id: int
    hash: str
    alike: tuple[int, ...] = ()
    users: int | None = None
    user_names: tuple[str, ...] = ()


class ComparedRow(Frozen):
    """An attribute of a package, with its value in each spec.

    `path` has the packages from the spec down to this one, which is its last. A row that `follows`
    another attribute normally changes with it. `others` counts other packages with these values.
    """

    part: Part
    package: str
    attribute: str
    values: tuple[str, ...]
    path: tuple[str, ...] = ()
    follows: str = ""
    others: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether no two listed values differ."""
        return len(set(self.values) - {UNKNOWN}) < 2


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
    is_by_kind: bool = True

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


class TableLine(Frozen):
    """A line under the heads of the columns: a heading, a sentence, or a row with its values."""

    kind: LineKind
    text: str = ""
    row: ComparedRow | None = None


def table_lines(
    table: ComparedTable, *, shows_build: bool = False, shows_equal: bool = False
) -> list[TableLine]:
    """Return the lines of a table: own values, what is linked or run, what only builds, users."""
    rows, tells = table.rows, any(table.lists_dependencies)
    own = list(_row_lines(rows or (), "own", shows_equal))
    if not own and rows is not None and not tells:
        own = [TableLine("note", "nothing that is listed differs")]
    lines = [TableLine("head", "the specs themselves"), *own] if own else []
    lines.append(TableLine("head", "linked or run"))
    note = ""
    if rows is None:
        note = "comparing…"
    else:
        lines += _row_lines(rows, "run", shows_equal)
        if not tells:
            note = NOT_LISTED
        elif not all(table.lists_dependencies):
            note = f"{UNKNOWN} stands where a source lists no dependencies"
        elif table.runs_the_same:
            note = "nothing differs: all run the same"
        elif not any(row.part == "run" and not row.is_equal for row in rows):
            note = "nothing differs"
    if note:
        lines.append(TableLine("note", note))
    if table.build_rows is not None:
        differing = {row.package for row in table.build_rows if not row.is_equal}
        count = f"({counted(len(differing), 'package')})" if differing else "nothing differs"
        build = list(_row_lines(table.build_rows, "build", shows_equal))
        sign = f" {'▾' if shows_build else '▸'}" if build else ""
        lines.append(TableLine("fold", f"to build only {count} {sign}".rstrip()))
        lines += build if shows_build else ()
    elif rows is not None and tells:
        lines.append(TableLine("fold", "to build only …"))
    if any(spec.users is not None for spec in table.specs):
        lines.append(TableLine("users", "used by"))
    return lines


def _row_lines(rows: Sequence[ComparedRow], part: Part, shows_equal: bool) -> Iterator[TableLine]:
    """Yield the rows of a part that differ; if asked to, then what follows, and what is equal."""
    rows = [row for row in rows if row.part == part]
    differing = [row for row in rows if not row.is_equal]
    following = [row for row in differing if row.follows]
    shown = [row for row in differing if not row.follows]
    if shows_equal:
        shown += [*following, *(row for row in rows if row.is_equal)]
    yield from (TableLine("row", row=row) for row in shown)
    if following and not shows_equal:
        verb = "follows" if len(following) == 1 else "follow"
        yield TableLine("note", f"{len(following):,} more {verb} from these (= shows all)")


Rank = Literal["common", "rare", "missing", "unknown"]
"""How a value compares with the others of its row."""

_DIGESTS = ("package_hash", "patches")
_MAX_VARYING_VALUES = 2
_MAX_NAME_IN_CELL = 6
"""Characters of the name of a variant that is in the cells; a longer one is in the label."""

_MAX_USERS = 12
"""Names of users that are shown in a row; the row is cut at the width of the screen anyway."""


def ranks(values: Sequence[str]) -> list[Rank]:
    """Compare the values of a row: the most common one, of several the first, and the others."""
    known = [value for value in values if value not in (MISSING, UNKNOWN)]
    # A Counter keeps the order of those that are equally common.
    common = Counter(known).most_common(1)[0][0] if known else MISSING
    kinds: dict[str, Rank] = {common: "common", UNKNOWN: "unknown", MISSING: "missing"}
    return [kinds.get(value, "rare") for value in values]


def value_texts(row: ComparedRow) -> list[str]:
    """Spell the values of a row as Spack does where the row names the package only.

    `+rxm`, `api=v18`; of a variant with several values those that not all have.
    """
    is_named = _is_named_in_cells(row)
    if row.attribute.startswith("variant:") and any("," in value for value in row.values):
        sets = [
            frozenset(value.split(",")) if value not in (MISSING, UNKNOWN) else None
            for value in row.values
        ]
        known = [each for each in sets if each is not None]
        varying = sorted(frozenset().union(*known).difference(known[0].intersection(*known)))
        if 0 < len(varying) <= _MAX_VARYING_VALUES:
            return [
                value_text(row.attribute, value, is_named=is_named)
                if each is None
                else clean(spell_signs(varying, each))
                for each, value in zip(sets, row.values, strict=True)
            ]
    return [value_text(row.attribute, value, is_named=is_named) for value in row.values]


def value_text(attribute: str, value: str, *, is_named: bool = True) -> str:
    """Spell a value in full, but for digests."""
    if value == MISSING:
        return "-"
    kind, _, name = attribute.partition(":")
    if value == UNKNOWN:
        return value
    if attribute in _DIGESTS:
        return clean(",".join(digest[:SHORT_HASH] for digest in value.split(",")))
    if kind == "variant" and is_named:
        value = spell_variant(name, (value,))
    return clean(short_digests(value))


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
    others = f" and {row.others:,} more" if row.others else ""
    if kind in ("version", "present", "provider") or _is_named_in_cells(row):
        label = ""
    return clean(f"{row.package}{others} {label}").rstrip()


def row_path(row: ComparedRow, width: int | None = None) -> str:
    """Spell the path to a package; empty for a direct dependency and for the spec itself.

    Names in its middle are left out where it is wider than some cells.
    """
    names = row.path if len(row.path) > 1 else ()
    for last in range(len(names) - 1, -1, -1) if width is not None and len(names) > 2 else ():
        shorter = names if last == len(names) - 1 else (*names[:last], "…", names[-1])
        if cell_width(text := path_text(shorter)) <= (width or 0):
            return text
    text = path_text(names)
    return text if width is None else shorten(text, width)


def path_in(row: ComparedRow, column: int) -> tuple[str, ...]:
    """Return the path to what a row is about in one column: each may have another provider."""
    if row.attribute != "provider" or row.values[column] in (MISSING, UNKNOWN):
        return row.path
    return (*row.path[:-1], row.values[column].partition("@")[0])


def users_text(spec: ComparedSpec) -> str:
    """Return the packages that use the specs of a column."""
    names = dict.fromkeys(spec.user_names)
    more = len(names) - _MAX_USERS
    return clean(" ".join([*names][:_MAX_USERS])) + (f" and {more:,} more" if more > 0 else "")


def cell_sentence(table: ComparedTable, line: TableLine, column: int) -> str:
    """Describe a cell in full, since its column may be too narrow for it."""
    spec = table.specs[column]
    hash_ = spec.hash[:SHORT_HASH]
    if line.kind == "users":
        return f"{hash_}: {users_text(spec) or 'used by nothing here'}"
    if (row := line.row) is None:
        return ""
    value = row.values[column]
    if value == UNKNOWN:
        return f"{hash_}: not told by its source"
    text = "has no such package" if value == MISSING else value_text(row.attribute, value)
    if value == MISSING and row.attribute not in ("version", "present"):
        text = "has none"
    same = f"{row.values.count(value):,} of {len(row.values):,} the same"
    subject = clean(row.package) if row.attribute.startswith("variant:") else row_label(row)
    parts = [f"{hash_}: {subject} {text}", row_path(row), same]
    return " · ".join(part for part in parts if part)


MAX_SPECS = 200
"""Specs that are compared at once."""
_MAX_ROWS = 500
"""Rows of each part of a table."""
_MAX_NAMES = 50
"""Packages that are named as users of a column."""

_COME_WITH_VERSION = frozenset(("package_hash", "patches"))
_OTHERS_FOLLOW = ("package", "version")
"""Attributes with which recipe, patches and the set of variants normally change."""
_NOT_SHOWN = frozenset(("spec_format",))

Rows = Iterator[ComparedRow]


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
    unique = _one_of_each_hash(graph, ids)
    compared = unique[:MAX_SPECS]
    kinds = run_kinds(graph, compared, should_stop=should_stop)
    by_kind = by_kind and len(kinds) > 1
    specs = tuple(_columns(graph, kinds, by_kind=by_kind))
    columns = [spec.id for spec in specs]
    table = ComparedTable(
        _title(graph, columns),
        specs,
        len(compared),
        tuple(map(graph.lists_dependencies, columns)),
        left_out=len(unique) - len(compared),
        kinds=len(kinds),
        is_by_kind=by_kind,
    )
    show(table)
    listing = [id_ for id_ in columns if graph.lists_dependencies(id_)]
    walker = Walker(graph)
    run, whole = (
        [walker.walk([id_], run_only=run_only) for id_ in listing] for run_only in (True, False)
    )

    def rows_below(walks: Sequence[Walk], part: Part, group_of: Mapping[int, int]) -> Rows:
        """Yield what varies below the specs, and then what is equal there."""
        groups = list(dict.fromkeys(group_of.values()))
        numbers = {id_: groups.index(group) for id_, group in group_of.items()}
        is_run = part == "run"
        rows = varying(graph, [[id_] for id_ in groups], run_only=is_run, should_stop=should_stop)
        # Not what the specs themselves state.
        below = [r for r in rows if r.is_run == is_run and (r.path or r.attribute == "compiler")]
        have_version = {row.package for row in below if row.attribute == "version"}
        shown = (r for r in below if r.attribute != "present" or r.package not in have_version)
        for row in islice(shown, _MAX_ROWS):
            values = (
                ",".join(row.values[numbers[id_]] or (MISSING,)) if id_ in numbers else UNKNOWN
                for id_ in columns
            )
            yield ComparedRow(
                "own" if is_run and not row.path else part,
                row.package,
                row.attribute,
                tuple(values),
                row.path,
                "" if row.tells else row.follows,
                max(0, len(row.packages) - 1),
            )
        skipped = {name for row in rows for name in (row.package, *row.packages)}
        skipped = skipped.union(*(walk.nodes for walk in run if not is_run))
        names = set(walks[0].nodes).intersection(*(walk.nodes for walk in walks)) - skipped
        paths = ((name, walks[0].path(graph, name)) for name in walks[0].nodes if name in names)
        for name, path in islice(((name, path) for name, path in paths if path), _MAX_ROWS):
            version = graph.version(min(walks[0].nodes[name])) or UNKNOWN
            values = (version if id_ in numbers else UNKNOWN for id_ in columns)
            yield ComparedRow(part, name, "version", tuple(values), path)

    rows = tuple(_own_rows(graph, columns, listing))
    if listing:
        # Those of one kind link and run the same.
        first_of_kind = {id_: kind.ids[0] for kind in kinds for id_ in kind.ids}
        groups = {id_: first_of_kind[id_] for id_ in listing}
        table = replace(table, rows=(*rows, *rows_below(run, "run", groups)))
        show(table)
        groups = dict(zip(listing, listing, strict=True))
        table = replace(table, build_rows=tuple(rows_below(whole, "build", groups)))
    else:
        table = replace(table, rows=rows)
    show(table)
    return replace(table, specs=tuple(_with_users(graph, table.specs)))


def _one_of_each_hash(graph: Dag, ids: Sequence[int]) -> list[int]:
    """Return one record of each hash: one whose source lists dependencies, if there is any."""
    chosen: dict[int, int] = {}
    for id_ in ids:
        other = chosen.setdefault(graph.identity(id_), id_)
        if graph.lists_dependencies(id_) and not graph.lists_dependencies(other):
            chosen[graph.identity(id_)] = id_
    return list(chosen.values())


def _columns(graph: Dag, kinds: Sequence[Kind], *, by_kind: bool) -> Iterator[ComparedSpec]:
    """Yield a column for each kind, of which the most used one stands for all, or for each."""
    for kind in kinds:
        hashes = graph.hashes(kind.ids)
        if by_kind and kind.is_known:
            yield ComparedSpec(kind.ids[0], hashes[0], kind.ids, kind.total_users)
        else:
            for id_, hash_, users in zip(kind.ids, hashes, kind.users, strict=True):
                yield ComparedSpec(id_, hash_, users=users if kind.is_known else None)


def _title(graph: Dag, ids: Sequence[int]) -> str:
    """Return the package, with its version if that is the same in all."""
    packages, versions = list(dict.fromkeys(map(graph.name, ids))), set(map(graph.version, ids))
    if len(packages) > 1:
        return ", ".join(packages[:2]) + (", …" if len(packages) > 2 else "")
    return f"{packages[0]}@{versions.pop()}" if len(versions) == 1 else packages[0]


def _own_rows(graph: Dag, columns: Sequence[int], listing: Collection[int]) -> Rows:
    """Yield the attributes of the specs themselves, but what comes with another version.

    `listing` has the columns whose sources list dependencies, and with them all attributes.
    """
    values = [all_values(graph.attributes(id_)) for id_ in columns]
    reason = next((n for n in _OTHERS_FOLLOW if len({v.get(n) for v in values}) > 1), "")
    names = {name for each in values for name in each} - _NOT_SHOWN
    for name in sorted(names, key=_own_order):
        if name == "package" and reason != "package":
            continue
        is_conditional = ":" in name and any(name not in each for each in values)
        follows = reason if is_conditional or name in _COME_WITH_VERSION else ""
        texts = (
            ",".join(each.get(name, ()))
            if name in each or id_ in listing or ":" in name
            else UNKNOWN
            for id_, each in zip(columns, values, strict=True)
        )
        package = graph.name(columns[0])
        yield ComparedRow("own", package, name, tuple(texts), follows=follows)


def _own_order(name: str) -> tuple[int, str]:
    """Return a key that puts what people look for first: version, system, variants, the rest."""
    first = ("package", "version", "compiler", "platform", "os", "target")
    rank = first.index(name) if name in first else len(first) + (":" not in name)
    return rank, name


def _with_users(graph: Dag, specs: Sequence[ComparedSpec]) -> Iterator[ComparedSpec]:
    """Yield the columns with the names of those that use them."""
    for spec in specs:
        users = {user for id_ in spec.alike or [spec.id] for user in graph.dependents(id_)}
        names = dict.fromkeys(map(graph.name, sorted(users)))
        yield replace(spec, user_names=tuple(islice(names, _MAX_NAMES)))

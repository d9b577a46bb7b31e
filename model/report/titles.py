"""Describe the parts around the table: title, overview of packages, values, and remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.columns import (
    BY_NAME,
    COLUMNS,
    FIELDS,
    HOST_COLUMNS,
    SHORT_HASH,
    Value,
    spec_name,
)
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import NO, Spec
from spackscope.model.core.suggestions import matching
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.core.text import cell_width, clean, counted, cut_list, shorten
from spackscope.model.index.by_host import RANKS_OF_FITS
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.evaluate import Matches, source_term, unique_end
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query, Term, exact_term, format_group, query_of
from spackscope.model.report.report import UNBOUNDED
from spackscope.model.report.table_columns import GAP, Layout, TableColumn, TableColumns, lay_out
from spackscope.model.sources.source_name import SAMPLE, STANDARD_INPUT

if TYPE_CHECKING:
    from spackscope.model.analysis.host import Host
    from spackscope.model.index.catalog import Listing
    from spackscope.model.index.value_counts import SectionKey, SectionValue, ValueSection

_MAX_VALUE_WIDTH = 24


class SourceChip(NamedTuple):
    """A source in the title: its condition in a query, its name, and its number of specs.

    `is_cache` is True if some of its specs are cached: other sources only list installed specs.
    `has_failed` is True if nothing of the source could be read.
    """

    term: Term
    name: str
    specs: int
    is_cache: bool
    has_failed: bool


def source_chips(catalog: Catalog) -> tuple[SourceChip, ...]:
    """Return the sources of a catalog for the title."""
    names = [source.name for source in catalog.sources]
    chips = []
    for source in catalog.sources:
        is_input = source.name == STANDARD_INPUT
        name = source.kind if is_input else unique_end(source.name, names).rstrip("/")
        term = source_term(source.name, names)
        cached = query_of(exact_term("source", source.name), exact_term("state", "cached"))
        is_cache = source.specs > 0 and catalog.count(cached) > 0
        chip = SourceChip(term, clean(name), source.specs, is_cache, bool(source.failure))
        chips.append(chip)
    return tuple(chips)


def tags_title(catalog: Catalog) -> str:
    """Return the tag of the records, unless a source ends with it, or the number of tags."""
    tags = [clean(tag) for tag in catalog.texts("tag") if tag]
    names = [source.name.rstrip("/") for source in catalog.sources]
    # The tag of the sample would say nothing of the user's own sources.
    if len(tags) == 1 and (names == [SAMPLE] or any(name.endswith(tags[0]) for name in names)):
        return ""
    return tags[0] if len(tags) == 1 else f"{len(tags):,} tags" if tags else ""


def query_counts(shown: int, total: int, package: str | None, packages: int) -> tuple[str, ...]:
    """Return how many builds are shown, and of how many: longest form first.

    `total` counts the builds of the package, or of all packages; `packages` counts the packages
    with a shown build.
    """
    if package is not None:
        all_ = f"{total:,} {clean(package)}"
        return all_ if shown == total else f"{shown:,} of {all_}", f"{shown:,}"
    all_ = counted(total, "build")
    if shown == total:
        return f"{all_} of {counted(packages, 'package')}", all_, f"{shown:,}"
    count = f"{shown:,} of {all_}"
    return f"{count} in {counted(packages, 'package')}", count, f"{shown:,}"


_MAX_REASONS = 4
"""Reasons that a sentence about many specs names."""


def hidden_by_host(catalog: Catalog, query: Query) -> str:
    """Return how many specs the conditions on the host hide, and why; empty without any.

    Example: "fits hides 41 of 63: target too new 30 · glibc 2.39 > 2.28: 8 · unknown 3". A spec
    may have several reasons. Raises Cancelled.
    """
    sentences = []
    for column in (column.name for column in COLUMNS if column.is_by_host):
        specs = (query.groups, *query.specs)
        groups = dict.fromkeys(
            group for spec in specs for group in spec if all(c.column == column for c in group)
        )
        first, *others = (tuple(g for g in spec if g not in groups) for spec in specs)
        if not groups:
            continue
        try:
            counts = catalog.counts(Query(first, tuple(others)), column)
            shown = catalog.counts(query, column)
        except Unanswerable:
            continue
        if hidden := counts - shown:
            text = " ".join(map(format_group, groups))
            total = f"{hidden.total():,} of {counts.total():,}"
            sentences.append(f"{text} hides {total}: {_counted(hidden)}")
    return "; ".join(sentences)


def query_remarks(catalog: Catalog, query: Query) -> list[str]:
    """Return sentences on the virtuals in a query, and on specs that its host conditions hide."""
    sentences = [catalog.virtuals.sentence(query)]
    if query.columns & HOST_COLUMNS:
        sentences.append(hidden_by_host(catalog, query))
    return [sentence for sentence in sentences if sentence]


def _counted(hidden: Counter[Value]) -> str:
    labels: Counter[str] = Counter()
    for value, count in hidden.items():
        answer, *reasons = value if isinstance(value, tuple) and value else ("",)
        # A refused spec has a reason, which says more than the answer.
        for label in reasons if answer == NO else (answer,):
            labels[label] += count
    texts = [
        f"{label}{': ' if label[-1:].isdigit() else ' '}{count:,}"
        for label, count in labels.most_common()
    ]
    return " · ".join(cut_list(texts, _MAX_REASONS))


def shared_texts(listing: Listing) -> list[tuple[str, str]]:
    """Return the values that all specs of a listing share, each after the name of its column.

    Only values that a title is to mention are returned.
    """
    texts = []
    for name, value in listing.values.constants.items():
        column = BY_NAME[name]
        values = () if column.is_by_host else set(listing.values.all_values(name))
        if value and column.in_title(values):
            text = shorten(column.cell(value), _MAX_VALUE_WIDTH)
            texts.append((name, column.title(value) if column.title is not None else text))
    return texts


def spec_title(spec: Spec) -> str:
    """Return the name, the version and the short hash of a spec."""
    return f"{spec_name(spec.package, spec.version)} /{clean(spec.hash[:SHORT_HASH])}"


def position(row: int, length: int) -> str:
    """Return the row of the cursor and the number of rows, as in `12/2,052`."""
    return f"{row + 1:,}/{length:,}" if length else ""


class PackageSummary(Frozen):
    """The matches of a query in a package.

    `running` is the number of builds that run on the host. It is None where it is unknown, and
    until the summary `is_whole`.
    """

    newest: str
    running: int | None = None
    is_whole: bool = False


Summaries = dict[int, PackageSummary]
"""Summaries by the ids of the packages."""


def package_summaries(
    catalog: Catalog, query: Query, packages: Iterable[PackageCount]
) -> Iterator[Summaries]:
    """Yield all summaries with the fast values, and then each summary again with all values.

    The query must not name a package. Raises Cancelled and Unanswerable.
    """
    matches = catalog.match(query)
    versions = catalog.texts("version")
    summaries: Summaries = {}
    unknown: dict[int, Matches] = {}
    for package in packages:
        # Without looking at each spec.
        ids = unknown[package.id] = matches.within(*package.span)
        codes = set(ids.codes(catalog.column("version")))
        newest = max(map(versions.__getitem__, codes), key=FIELDS["version"].sort_key, default="")
        summaries[package.id] = PackageSummary(newest)
    yield summaries
    for id_, ids in unknown.items():
        check_cancelled()
        running = None
        if catalog.by_host.has_host:
            ranks = catalog.by_host.answers.ranks
            here, unknown_here = (
                sum(ranks.count(RANKS_OF_FITS[fits], *span) for span in ids.spans())
                for fits in (True, None)
            )
            # Where no build is known to run, the number is unknown.
            running = here if here or not unknown_here else None
        yield {id_: replace(summaries[id_], running=running, is_whole=True)}


MIN_WIDTH = 37
"""The least cells of a row that has more than a name and a count."""

_BESIDE = 3
"""Cells of a row beside its columns: the mark before them, and a blank after them."""
_MIN_NAME = 14
_NOT_TOLD = "-"


RUNS_HERE = "runs here"


def runs_head(machine: Host) -> str:
    """Return the head of the column that counts the builds that run on a host."""
    return RUNS_HERE if machine.is_this_machine else f"runs on {clean(machine.target) or 'it'}"


@lru_cache
def overview_layout(width: int, runs_head: str) -> Layout:
    """Return the columns of rows of some width; the names take the remaining width.

    `runs_head` is the head of the column of builds that run; empty where this is unknown. Each
    column but the names begins with a blank.
    """
    names = TableColumn("package", "", UNBOUNDED, _MIN_NAME)
    columns = TableColumns((names,), tuple(_overview_columns(runs_head)))
    # Without room for all, the builds come first.
    layout = lay_out(columns, width - _BESIDE, current="builds", first=1)
    has_runs = layout.placed[-1].column.name == "runs"
    return layout if has_runs or not runs_head else overview_layout(width, "")


def overview_width(longest_name: int, runs_head: str) -> int:
    """Return the width of rows with all columns and names of some length."""
    columns = sum(GAP + column.width for column in _overview_columns(runs_head))
    return _BESIDE + max(_MIN_NAME, longest_name) + columns


def _overview_columns(runs_head: str) -> Iterator[TableColumn]:
    yield TableColumn("newest", "newest", 11, 11)
    yield TableColumn("builds", "builds", 7, 7, is_right=True)
    if runs_head:
        width = 1 + cell_width(runs_head)
        yield TableColumn("runs", runs_head, width, width, is_right=True)


def overview_cell(column: TableColumn, builds: int, summary: PackageSummary | None) -> str:
    """Return the cell of a package, blank until it is known."""
    if column.name == "builds":
        return f"{builds:,}"
    if summary is None:
        return ""
    if column.name == "newest":
        return shorten(clean(summary.newest), column.width - 1) or _NOT_TOLD
    if summary.running is None:
        return _NOT_TOLD if summary.is_whole else ""
    return f"{summary.running:,}"


class ValueLine(NamedTuple):
    """A line: the head of a section, one of its values, or the switch for the others.

    `most` is the greatest count of the values, for their bars.
    """

    section: ValueSection
    text: str
    value: SectionValue | None = None
    most: int = 0
    is_switch: bool = False

    @property
    def is_head(self) -> bool:
        """Whether the line is the head of its section."""
        return self.value is None and not self.is_switch


def value_lines(
    sections: Sequence[ValueSection],
    typed: str = "",
    opened: Collection[SectionKey] = (),
    most: int = 5,
) -> list[ValueLine]:
    """Return the lines of some sections, with their values filtered by the typed text.

    Of a section that is not `opened` only the first `most` values and marked ones are shown. The
    filter looks at the name of the section too, as in `target zen`.
    """
    lines: list[ValueLine] = []
    for section, values in _fitting(sections, typed):
        lines += _section_lines(section, values, most, is_open=section.key in opened)
    return lines


def _fitting(
    sections: Sequence[ValueSection], typed: str
) -> Iterator[tuple[ValueSection, Sequence[SectionValue]]]:
    """Yield the sections with values that match the typed text, each with these values."""
    if not typed.strip():
        yield from ((section, section.values) for section in sections if section.values)
        return
    items = [(section, value) for section in sections for value in section.values]
    # 12 is not to find 13.2.0, whose parts begin with 1 and 2.
    texts = matching(
        typed, items, lambda item: f"{item[0].key.label} {item[1].text}", is_strict=True
    )
    kept = {id(value) for _, value in texts}
    for section in sections:
        if values := [value for value in section.values if id(value) in kept]:
            yield section, values


def _section_lines(
    section: ValueSection, values: Sequence[SectionValue], most: int, *, is_open: bool
) -> Iterator[ValueLine]:
    greatest = max((v.count for v in values if v.condition is None), default=0)
    yield ValueLine(section, clean(section.key.label))
    shown = values if is_open else _first(values, most)
    for value in shown:
        yield ValueLine(section, value.text, value, greatest)
    if (more := len(values) - len(shown)) > 0:
        yield ValueLine(section, f"… {more:,} more", is_switch=True)
    elif is_open and len(_first(values, most)) < len(values):
        yield ValueLine(section, "… fewer", is_switch=True)


def _first(values: Sequence[SectionValue], most: int) -> Sequence[SectionValue]:
    """Return the first values and all marked ones; all values if only one would be hidden."""
    shown = [v for n, v in enumerate(values) if n < most or v.mark is not None]
    return values if len(values) - len(shown) <= 1 else shown

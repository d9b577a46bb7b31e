"""Read the detail of a spec: its lines, its tree and its relations, for a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from spackscope.model.analysis.dag import Walker, dag_of
from spackscope.model.analysis.differences import compare_specs
from spackscope.model.analysis.kinds import run_codes
from spackscope.model.analysis.nearest import NearestSearch, nearest_look_alike
from spackscope.model.analysis.needs import add_sizes, read_needs
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import BoundedCache
from spackscope.model.index.catalog import Catalog, Listing, Row
from spackscope.model.index.tree import TreeSection, read_tree
from spackscope.model.report.detail import (
    DIFFER_IN,
    DOWNLOAD,
    FITS,
    NEEDS,
    NEXT_TO,
    USED_BY,
    DetailLine,
    Members,
    detail,
    fit_at_end,
    fit_lines,
    needs_values,
    pending_lines,
    user_values,
    with_members,
)
from spackscope.model.report.differences import difference_values, differing_below
from spackscope.model.report.row_notes import members_of, row_notes
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import DEVELOP
from spackscope.tui.browser.state import DetailInputs, Details, Related

_MAX_MEMBERS = 200
"""Builds of a folded row whose users are read."""
_MAX_USERS = 60
_LINE = 500
"""Bytes that a line on a difference counts for."""


def read_details(
    asked: DetailInputs,
    listing: Listing,
    details: Details,
    unfolded: Collection[TreeSection],
    session: Session,
    sources: Sequence[str],
    show_part: Callable[[Details], object],
    *,
    run_only: bool,
) -> Details:
    """Read the lines of a row, its tree unless `details` has one, and how it relates to others.

    `show_part` gets what is read so far whenever the rest may take long; `run_only` is for trees.
    The row is compared with the spec of the mark, or with the nearest look-alike of one build, or
    of builds that run the same. Raises Cancelled.
    """
    row, tree = asked.row, details.tree
    catalog, ids = row.catalog, listing.ids_of(row)
    # How several specs run takes the edges.
    is_known = asked.has_host or len(ids) < 2
    members = members_of(row, ids) if is_known else Members(tuple(ids), 0)
    if tree is None and asked.has_host:
        tree = read_tree(catalog, row.id, unfolded, members=members.ids, run_only=run_only)
    details = replace(details, lines=_lines(asked, members), tree=tree, members=members)
    if not asked.has_host:
        return details

    def related(lines: Sequence[DetailLine], differing: Mapping[int, str] = {}) -> Details:
        return replace(details, related=Related(lines, differing))

    first, end = catalog.span(row.look_alike)
    has_nearest = members.kinds == 1 and end - first > 1
    is_compared = asked.mark is not None or has_nearest
    show_part(related(_pending_lines_of(row, members, is_compared=is_compared)))
    fits = _fits(catalog, row.id)
    others = _needs_and_users(row, members, session, sources)
    if members.run_differently:
        fits += _kinds(row, members)
    if not is_compared:
        return related([*fits, *others])
    compared, differences = (row.id, asked.mark), catalog.cached(_differences)
    if compared not in differences:
        show_part(related([*fits, *pending_lines([NEXT_TO]), *others]))
    read = partial(_read_difference, catalog, row.id, asked.mark)
    difference = differences.get(compared, read)
    return related([*fits, *difference.lines, *others], difference.differing)


def _lines(asked: DetailInputs, members: Members) -> Sequence[DetailLine]:
    row, answer = asked.row, asked.answer
    catalog = row.catalog
    spec = catalog.with_compilers(row) if asked.has_host else row.spec
    # The fit is among the relations, which are read for any spec.
    spec = replace(spec, fit=None)
    if spec.size is None and answer is not None:
        spec = replace(spec, size=answer.size)
    lines = detail(
        catalog.with_provenance(row.id, spec),
        varying=asked.varying,
        # A row of several builds has a sentence of its own.
        alike=asked.alike if len(members.ids) < 2 else 1,
        shown=asked.shown,
        may_expire=catalog.is_only_in(DEVELOP, spec.hash),
    )
    lines += answer.lines if answer is not None else ()
    return with_members(lines, members)


def _pending_lines_of(row: Row, members: Members, *, is_compared: bool) -> list[DetailLine]:
    """Return placeholders of the relations, so that few lines move once these are read."""
    lines = [DetailLine("…", FITS, style="dim", at_end=True)] * row.catalog.by_host.has_host
    labels = [DIFFER_IN] * members.run_differently + [NEXT_TO] * is_compared
    if row.catalog.edges.lists(row.id):
        labels += [NEEDS, DOWNLOAD, USED_BY]
    return [*lines, *pending_lines(labels)]


def _differences(catalog: Catalog) -> BoundedCache[tuple[int, str | None], Related]:
    """Return a cache: a row is often shown again, beside the same mark."""
    return BoundedCache(lambda difference: _LINE * sum(map(len, difference)))


def _read_difference(catalog: Catalog, id_: int, mark: str | None) -> Related:
    """Compare a spec with the marked spec; without a mark, with its nearest look-alike.

    Raises Cancelled.
    """
    graph = dag_of(catalog)
    search = NearestSearch(graph)
    marked = next((row.id for row in catalog.by_hash(mark)), None) if mark else None
    other = marked if mark else nearest_look_alike(search, id_)
    if other is None or graph.identity(other) == graph.identity(id_):
        return Related()
    differences = compare_specs(Walker(graph), [id_, other])
    are_known = graph.lists_dependencies(id_) and graph.lists_dependencies(other)
    runs_the_same = are_known and len(set(run_codes(graph).codes([id_, other]))) == 1
    lines = difference_values(
        graph.hash(other), other, differences, is_known=are_known, runs_the_same=runs_the_same
    )
    below = differing_below(graph, id_, other, differences) if mark and are_known else {}
    return Related([*lines], below)


def _fits(catalog: Catalog, id_: int) -> list[DetailLine]:
    """Read whether a spec runs on the host, and why not."""
    if not catalog.by_host.has_host:
        return []
    answers = catalog.by_host.answers
    fit = answers.of(id_)
    if fit.fits is None and not catalog.edges.lists(id_):
        return []
    lines = list(fit_lines(fit, answers.where))
    is_said = fit.fits and len(lines) == 1
    return [fit_at_end(fit, lines[0]), *(() if is_said else lines)]


def _needs_and_users(
    row: Row, members: Members, session: Session, sources: Sequence[str]
) -> list[DetailLine]:
    """Read the run-time needs of the spec of a row, and the users of all its specs."""
    needs = read_needs(row.catalog, [row.id])
    if needs is None:
        return []
    graph = dag_of(row.catalog)
    needs = add_sizes(needs, row.catalog, session, sources, is_offline=True)
    users = sorted(set().union(*map(graph.dependents, members.ids[:_MAX_MEMBERS])))
    first = {graph.name(user): user for user in reversed(users)}
    shown = sorted(first.values())[:_MAX_USERS]
    return [*needs_values(needs), *user_values(graph, shown, len(users))]


def _kinds(row: Row, members: Members) -> list[DetailLine]:
    """Read the line on how the kinds of a folded row differ. Raises Cancelled."""
    text = row_notes(row.catalog).telling(members.ids)
    return [DetailLine(text, DIFFER_IN, style="differs")] if text else []

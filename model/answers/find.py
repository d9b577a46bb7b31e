"""List the records that match a query."""

from __future__ import annotations

from collections.abc import Iterator

from spackscope.model.answers import Asked
from spackscope.model.core.columns import HOST_COLUMNS
from spackscope.model.core.commands import FIT, SHEET, SOURCES, Command, flag
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.index.order import View
from spackscope.model.report.export import spec_sheet
from spackscope.model.report.report import Line
from spackscope.model.report.sheet import Sheet
from spackscope.model.report.titles import query_remarks

COMMAND = Command(
    "find",
    "list matching specs, as a table or for a script",
    ("[-f SOURCE]... [--flat] [OUTPUT] [QUERY...]",),
    """\
List matching specs: on a terminal as a table that fits it, elsewhere with
tabs between the columns, a header line and full hashes. The newest of a
package come first. Builds that look the same are one row, with their number,
the hash of one, how they differ from other rows, and how they differ
themselves.""",
    (
        flag("flat", "print one row for each build on a terminal too"),
        *SHEET,
        *FIT,
        *SOURCES,
    ),
    words="query",
    examples="""\
spackscope find py-ml-dtypes target=aarch64
spackscope find ~/mirror hdf5 +mpi
spackscope find --json 'py-*' %gcc@13: | jq '.[].hash'
spackscope find --csv os=ubuntu24.04 > ubuntu.csv""",
)


def answer(asked: Asked) -> Sheet[Spec]:
    """Return the records in the order of the browser; a terminal shows look-alikes as one row."""
    query, options = asked.query(asked.words), asked.options
    (catalog,) = asked.load(asked.sources)
    has_host = bool(options.get("host"))
    # With a host every format says which specs fit it.
    catalog.by_host.fills_rows = has_host
    view = View(query, best_first=True, folded=True)
    listing = catalog.listing(view)
    tells_fit = has_host or not query.columns.isdisjoint(HOST_COLUMNS)
    asked.rests_on_configuration |= tells_fit

    def draw(width: int | None) -> Iterator[Line]:
        # Only a terminal shows the notes that set rows apart.
        from spackscope.model.report.spec_list import spec_lines

        named = query.columns | ({"fits"} if has_host else set())
        is_flat = options.get("flat", False)
        return spec_lines(catalog, view, width or 0, named, is_flat=is_flat)

    return replace(
        spec_sheet(catalog, listing.unfolded_ids(), tells_fit=tells_fit),
        remarks=query_remarks(catalog, query),
        draw=draw if listing else None,
        ending=None if listing else asked.no_match(catalog, query),
    )

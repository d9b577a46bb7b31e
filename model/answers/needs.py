"""List the closure of specs: specs that they link or run, and specs needed only to build them."""

from __future__ import annotations

from spackscope.model.analysis.dag import explicit_specs
from spackscope.model.analysis.needs import NeededSpec, add_sizes, read_needs
from spackscope.model.answers import Asked
from spackscope.model.core.columns import spec_name
from spackscope.model.core.commands import NEEDS_SPEC, SHEET, SOURCES, Command
from spackscope.model.core.text import clean, counted
from spackscope.model.query.ast import exact_query
from spackscope.model.report.detail import UNLISTED, needs_line
from spackscope.model.report.sheet import (
    Sheet,
    SheetColumn,
    hash_column,
    package_column,
    size_column,
    version_column,
)
from spackscope.model.sources.resolve import find_environment, names_source

COMMAND = Command(
    "needs",
    "list what a spec needs to run",
    ("[-f SOURCE]... [OUTPUT] HASH | QUERY... | LOCK",),
    """\
Print the run-time dependencies of a spec: everything that it links or runs,
directly or not, which an install from a build cache fetches. You see the state
of each, and the size of its archive if a manifest has it; the sum is over
those that are not installed. External specs must exist on the host. Build
dependencies come last. Name the spec as for `spackscope show`. For a LOCK (a
spack.lock, the directory of an environment, or an install tree), list what its
roots need.""",
    (*SHEET, *SOURCES),
    words="spec or environment",
    least=1,
    wrong_count=NEEDS_SPEC,
    examples="""\
spackscope needs 23r4fq5
spackscope needs hdf5@1.14.6 os=rocky9 +mpi --hashes""",
)


_Row = tuple[str, NeededSpec]
"""The part of the closure, and a spec of it."""


def answer(asked: Asked) -> Sheet[_Row]:
    """Return the specs that a spec or an environment needs, the nearest first.

    There are no rows if no source lists dependencies.
    """
    words = asked.words
    if len(words) == 1 and names_source(words[0]):
        (catalog,) = asked.load([find_environment(words[0], asked.session)])
        ids, title = explicit_specs(catalog) or range(catalog.total), clean(words[0])
    else:
        (catalog,) = asked.load(asked.sources)
        row = catalog.with_dependencies(asked.find_hash(catalog, words))
        spec, ids = row.spec, [row.id]
        title = f"{spec_name(spec.package, spec.version)}  /{spec.hash}"
    needs = read_needs(catalog, ids, to_build=True)
    if needs is None:
        return Sheet(title, _COLUMNS, (), notes=[UNLISTED])
    needs = add_sizes(needs, catalog, asked.session, asked.sources)
    build_only = counted(len(needs.build_only), "more spec")
    headings = {
        "run": f"needs to run: {needs_line(needs)}",
        "external": f"externals assumed on the host: {len(needs.externals):,}",
        "build": f"needs only to build: {build_only}",
    }
    parts = {"run": needs.specs, "external": needs.externals, "build": needs.build_only}
    return Sheet(
        title,
        _COLUMNS,
        [(part, needed) for part, specs in parts.items() for needed in specs],
        row="a spec that it needs",
        hash=lambda row: row[1].spec.hash,
        query=lambda row: exact_query("hash", row[1].spec.hash),
        group=lambda row: headings[row[0]],
        redundant=("needed_to",),
        limit=None,
    )


def _place(row: _Row) -> str:
    """Return the states of a spec, or the prefix and modules of an external."""
    _, (_, spec, is_absent, *_) = row
    if is_absent:
        return "not in this index"
    if not spec.external:
        return ", ".join(spec.states)
    modules = ", ".join(spec.external_modules)
    prefix = "" if spec.external == modules else f"at {spec.external}"
    return f"external {', '.join(filter(None, (prefix, f'module {modules}' if modules else '')))}"


_COLUMNS: list[SheetColumn[_Row]] = [
    SheetColumn("needed_to", lambda row: row[0], meaning="run, external or build"),
    hash_column(lambda row: row[1].spec.hash),
    package_column(lambda row: row[1].spec.package),
    version_column(lambda row: row[1].spec.version),
    SheetColumn(
        "virtuals",
        lambda row: row[1].virtuals,
        is_list=True,
        meaning="the virtuals that it provides here",
    ),
    SheetColumn("state", _place, wraps=True, meaning="cached, installed, external or missing"),
    size_column(lambda row: row[1].spec.size),
]

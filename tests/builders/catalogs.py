"""Read documents and index sources."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import parse_host
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import LookAlike, Problem, Records, Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load
from spackscope.model.readers.formats import read_document
from spackscope.model.sources.session import Session


def each_record(items: Iterable[Records | Problem]) -> Iterator[Spec | Problem]:
    """Yield each record as a spec, and the problems, as a reader yields them."""
    for item in items:
        if isinstance(item, Problem):
            yield item
            continue
        assert set(item.numbers) == set(range(len(item.looks)))
        for number, hash_, size in zip(item.numbers, item.hashes, item.sizes, strict=True):
            look = item.looks[number]
            if isinstance(look, LookAlike):
                # As pages do.
                yield Spec(
                    **look._asdict(), hash=hash_, size=size, origin="document", cached=look.cached
                )
            else:
                yield replace(look, hash=hash_, size=size)


def split_problems(items: Iterable[Records | Problem]) -> tuple[list[Spec], list[Problem]]:
    """Separate records from problems."""
    specs: list[Spec] = []
    problems: list[Problem] = []
    for item in each_record(items):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            specs.append(item)
    return specs, problems


def read(data: bytes) -> tuple[list[Spec], list[Problem]]:
    """Read a document into its records and its problems."""
    return split_problems(read_document(data, origin="document"))


def all_texts(item: Spec | Problem) -> Iterator[str]:
    """Yield all texts in a record or problem, however deep."""
    stack: list[Any] = [item]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            stack.extend(value)
        elif hasattr(value, "__slots__") and not isinstance(value, type):
            stack.extend(getattr(value, name) for name in value.__slots__)


def catalog_of(*sources: Path | str, dependency_only: bool = False) -> Catalog:
    """Index sources in memory; `dependency_only` lists dependency-only specs in the table too."""
    session = Session({}, include_dependency_only=dependency_only)
    return load([str(source) for source in sources], session)


def on_host(catalog: Catalog, host: str) -> Catalog:
    """Open an index once more, for a host: a catalog keeps the answers for the one it has."""
    again = Catalog(catalog.columns)
    again.by_host.connect(lambda: HostFit(again, parse_host(host)))
    return again


def all_records(catalog: Catalog) -> list[Spec]:
    """Return all records of a catalog in display order."""
    return [row.spec for row in catalog.rows(range(catalog.total))]


def zlib_of(data: bytes) -> tuple[Spec, list[str]]:
    """Return the first record of a document, and the texts of its problems."""
    specs, problems = read(data)
    return specs[0], [str(problem) for problem in problems]


def reasons(problems: list[Problem]) -> list[str]:
    """Return the place and the reason of each problem."""
    return [f"{problem.place}: {problem.reason}" for problem in problems]

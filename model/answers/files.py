"""List the files and links of one spec, or find the specs that have a file of some name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from fnmatch import translate
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from spackscope.model.answers import Asked
from spackscope.model.core.columns import SHORT_HASH, size_text, spec_name
from spackscope.model.core.commands import ANSWER, NEEDS_SPEC, Command, flag, value
from spackscope.model.core.errors import Unreadable, WrongQuestion
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import progress_hidden, report_progress, run_parallel
from spackscope.model.core.text import clean, counted, cut_list
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.sheet import (
    Sheet,
    SheetColumn,
    hash_column,
    package_column,
    size_column,
    version_column,
)
from spackscope.model.sources.file_lists import (
    NO_LIST,
    TOO_MUCH,
    UNLISTED,
    FileLists,
    ListedFile,
    SpecFiles,
)

COMMAND = Command(
    "files",
    "list the files in a spec, or the specs with a file",
    (
        "[--download] [-f SOURCE]... [OUTPUT] HASH | QUERY...",
        "--having PATTERN [--download] [-f SOURCE]... [OUTPUT] [QUERY...]",
    ),
    """\
List the files and links in a spec, from an install tree or an archive. Of an
archive on a server only the list at its beginning is read, less than 1 MB; one
that does not begin with a list is read with --download. Name the spec as for
`spackscope show`.

With --having, list the files of all specs of the QUERY that match a shell
pattern: by name, or if it has a slash by path, as in 'bin/h5*'.""",
    (
        value("having", "list the specs with such a file", "PATTERN", "pattern"),
        flag(
            "download",
            "download whole archives that do not begin with a list: at most 1 GiB each, and "
            "16 GiB in all",
        ),
        *ANSWER,
    ),
    words="spec",
    wrong_count=NEEDS_SPEC,
    codes={0: "listed", 1: "nothing matched, or a list is not complete"},
    examples="""\
spackscope files hdf5@1.14.6 os=rocky9 +mpi -f ~/spack/opt/spack
spackscope files --having 'libhdf5.so*' 'hdf5 | netcdf-c' -f ~/mirror
spackscope files --having bin/h5dump 'hdf5 os=rocky9' -f spack:site""",
)


_MAX_ROWS = 100_000
_MAX_PROBLEMS = 20
_MAX_PATTERN = 1_000
_AT_ONCE = 16
_EXECUTABLE = 0o111


class FileRow(NamedTuple):
    """A file, and the spec that has it."""

    spec: Spec
    file: ListedFile


def answer(asked: Asked) -> Sheet[FileRow]:
    """Return the files of a spec, or with `--having` the files in specs that match a pattern."""
    pattern, download = asked.options.get("having"), bool(asked.options.get("download"))
    if not (asked.words or pattern):
        raise WrongQuestion("files needs a hash, a query that matches one spec, or --having")
    query = asked.query(asked.words) if pattern else None
    (catalog,) = asked.load(asked.sources)
    ids: Sequence[int]
    if query is None:
        hash_ = asked.find_hash(catalog, asked.words)
        query = exact_query("hash", hash_)
        ids = [row.id for row in catalog.by_hash(hash_)]
    else:
        ids = catalog.match(query).ids()
    if not ids:
        raise asked.no_match(catalog, query)
    specs = defaultdict[str, list[Spec]](list)
    for id_, spec in zip(ids, catalog.records(ids), strict=True):
        specs[spec.hash].append(catalog.with_provenance(id_, spec))
    lists = FileLists(catalog.sources, asked.session, asked.sources, may_download=download)
    ways = {UNLISTED: f"{UNLISTED} ({asked.option('download')} reads all of it)"}
    if not pattern:
        ((spec, *_),) = specs.values()
        found = lists.of(specs[spec.hash])
        return _files_of(spec, found._replace(problem=ways.get(found.problem, found.problem)))

    # Specs that need no server come first.
    ordered, numbers = sorted(specs.values(), key=lists.are_remote), count(1)

    def read(records: Sequence[Spec]) -> tuple[Spec, SpecFiles]:
        with nullcontext() if download else progress_hidden():
            found = lists.of(records)
        report_progress("specs searched", next(numbers), len(ordered))
        return records[0], found

    def read_all() -> Iterator[tuple[Spec, SpecFiles]]:
        report_progress("specs searched", 0, len(ordered))
        for start in range(0, len(ordered), _AT_ONCE):
            yield from run_parallel(
                [partial(read, records) for records in ordered[start : start + _AT_ONCE]]
            )

    return _having(pattern, read_all(), ways)


def _files_of(spec: Spec, found: SpecFiles) -> Sheet[FileRow]:
    """Return the files of a spec. Raises Unreadable where there is no list."""
    name = f"{spec_name(spec.package, spec.version)}  /{spec.hash}"
    if not found.place:
        raise Unreadable(clean(f"{name}: {found.problem}"))
    size = size_text(sum(file.size or 0 for file in found.files))
    return _sheet(
        f"{name}: {counted(len(found.files), 'file')}, {size}, from {found.place}",
        [FileRow(spec, file) for file in found.files],
        redundant=("hash", "package", "version"),
        notes=[f"This list is not complete: {found.problem}"] if found.problem else [],
        is_good=not found.problem,
    )


def _having(
    pattern: str, lists: Iterable[tuple[Spec, SpecFiles]], ways: Mapping[str, str]
) -> Sheet[FileRow]:
    """Return the files that match a pattern; not good if there are none.

    `ways` maps problems to sentences that name a way out.
    """
    if len(pattern) > _MAX_PATTERN:
        raise WrongQuestion(f"a pattern has at most {_MAX_PATTERN:,} characters")
    is_path, matches = "/" in pattern, re.compile(translate(pattern.lstrip("/"))).match
    rows, problems, searched = list[FileRow](), list[str](), 0
    unlisted = Counter[str]()
    for spec, found in lists:
        searched += bool(found.place)
        if found.problem in (NO_LIST, UNLISTED, TOO_MUCH):
            unlisted[found.problem] += 1
        elif found.problem:
            name = f"{spec_name(spec.package, spec.version)}/{spec.hash[:SHORT_HASH]}"
            problems.append(f"{name}: {found.problem}")
        for file in found.files:
            if matches(file.path if is_path else file.path.rpartition("/")[2]):
                rows.append(FileRow(spec, file))
        if len(rows) > _MAX_ROWS:
            problems.append(f"More than {_MAX_ROWS:,} files match: the search ends here")
            break
    having = len({row.spec.hash for row in rows})
    return _sheet(
        f"{pattern}: in {having:,} of {counted(searched, 'spec')} searched",
        rows,
        notes=[
            f"{counted(count, 'spec')} not searched: {ways.get(why, why)}"
            for why, count in unlisted.items()
        ],
        remarks=cut_list(problems, _MAX_PROBLEMS),
        is_good=bool(rows),
    )


def _sheet(title: str, rows: Sequence[FileRow], **fields: Any) -> Sheet[FileRow]:
    def query(row: FileRow) -> Query:
        return exact_query("hash", row.spec.hash)

    return Sheet(
        clean(title),
        _COLUMNS,
        rows,
        hash=lambda row: row.spec.hash,
        row="a file",
        query=query,
        **fields,
    )


def _mode(row: FileRow) -> str | None:
    """Return the permissions of an executable file, as `755`."""
    mode = row.file.mode if row.file.kind == "file" else None
    return f"{mode & 0o7777:o}" if mode and mode & _EXECUTABLE else None


_COLUMNS: list[SheetColumn[FileRow]] = [
    SheetColumn("path", lambda row: row.file.path, least=24, meaning="the path in the prefix"),
    SheetColumn(
        "kind", lambda row: row.file.kind, meaning="of a file, such as a directory or a link"
    ),
    size_column(lambda row: row.file.size, meaning="the bytes of the file"),
    SheetColumn(
        "mode",
        _mode,
        is_right=True,
        meaning="the permissions of a file that can be run, such as 755",
    ),
    SheetColumn("link_to", lambda row: row.file.target or None, meaning="what a link leads to"),
    hash_column(lambda row: row.spec.hash),
    package_column(lambda row: row.spec.package),
    version_column(lambda row: row.spec.version),
]

"""Find out since when versions, variants and builds are in a source, and when they went.

The dates come from snapshots, dated tags and the revisions of a file in a git work tree.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import PurePath
from typing import NamedTuple

from spackscope.model.analysis.history import (
    BETWEEN,
    MAX_OBSERVATIONS,
    ODD,
    Observation,
    Specs,
    fuller_text,
    is_read,
    matching_specs,
    observe,
    of_source,
    read_snapshots,
    spec_text,
    time_text,
)
from spackscope.model.answers import Asked
from spackscope.model.core.columns import ALIASES, FIELDS, Value
from spackscope.model.core.errors import Unreadable, WrongQuestion
from spackscope.model.core.file_access import max_unpacked_size, too_large
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Records
from spackscope.model.core.tasks import report_progress
from spackscope.model.core.text import clean, counted
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Condition, Query, Term, exact_query, exact_term, join_words
from spackscope.model.readers.formats import read_document
from spackscope.model.readers.json import AS_SPACK, parse, storable
from spackscope.model.readers.unpack import decode
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column
from spackscope.model.sources.git import Git
from spackscope.model.sources.source_name import is_local_path

_KNOWN = ("package", "version", "hash", "variants")
"""Columns that snapshots, revisions and tags have in common."""

VERSION, HASH = "version", "hash"
"""The names after `--by` that are not variants."""

MAX_REVISIONS_SIZE = 2**30
"""Bytes of all revisions of a file that are read: enough for 500 of a lock file of 700 specs."""

_SHORT_COMMIT = 10
"""Characters of a commit, which are unique in all but the largest repositories."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_MAX_BAR = 30
"""The most cells of a timeline; a cell may be of several observations."""

_PRESENT, _PARTLY, _ABSENT = "█", "▒", "·"


def answer(asked: Asked) -> Sheet[Timeline]:
    """Return the timelines of specs, the newest first; not good if they were never seen."""
    query = asked.query(asked.words)
    if query.specs or any(
        not (isinstance(condition, Term) and condition.column in _KNOWN)
        for condition in query.conditions
    ):
        raise WrongQuestion("history takes only packages, versions, variants and hashes")
    by = asked.options.get("by", (HASH if "hash" in query.columns else VERSION,))[-1]
    if by not in (VERSION, HASH) and ALIASES.get(by, by) in FIELDS:
        raise WrongQuestion(f"--by takes version, hash or a variant, not {clean(by)}")
    (catalog,) = asked.load(asked.sources)
    rows, failures = _read_timelines(asked, catalog, query, by)
    packages = {row.query.package for row in rows}
    unknown = [term for term in catalog.virtuals.unknown(query) if term.pattern not in packages]
    if packages and unknown:
        raise asked.no_match(catalog, query)
    noun = by if by in (VERSION, HASH) else "value"
    count = counted(len({row.name if by != HASH else row.hash for row in rows}), noun)
    return Sheet(
        f"{clean(join_words(asked.words))}: {count if rows else 'never seen'}",
        _COLUMNS,
        rows,
        hash=lambda row: row.hash,
        query=lambda row: exact_query("hash", row.hash) if row.hash else row.query,
        group=_heading,
        told=("source",),
        is_good=bool(rows),
        remarks=failures,
    )


class Timeline(Frozen):
    """When some specs were in a source: the `counts` of them in each of its observations.

    `hashes` has the hashes of all these specs at any time, and `query` finds similar specs.
    """

    source: str
    observations: Sequence[Observation]
    name: str
    query: Query
    hashes: list[str]
    counts: list[int]

    @property
    def since(self) -> str:
        """The first day with a spec, `or earlier` if it is in the first snapshot."""
        first = next(number for number, count in enumerate(self.counts) if count)
        day = _day(self.observations[first])
        return day if first else f"{day} or earlier"

    @property
    def until(self) -> str:
        """The last day with a spec and the first day without any; or `still listed`."""
        seen = max(number for number, count in enumerate(self.counts) if count)
        if seen + 1 == len(self.observations):
            return "still listed"
        last, after = self.observations[seen : seen + 2]
        label = "" if last.label == "snapshot" else f" ({clean(last.label)})"
        return f"{_day(last)}{label}, gone by {_day(after)}"

    @property
    def hash(self) -> str:
        """The hash if the specs have only one, else ""."""
        return self.hashes[0] if len(self.hashes) == 1 else ""


def _heading(row: Timeline) -> str:
    first, last = _day(row.observations[0]), _day(row.observations[-1])
    count = counted(len(row.observations), "snapshot")
    days = f"of {first}" if first == last else f"from {first} to {last}"
    return f"{clean(row.source)}: {count} {days}"


def _day(observation: Observation) -> str:
    return clean(observation.when[:10])


def _bar(counts: Sequence[int]) -> str:
    """Return a cell for each observation, or for several of them."""
    each = -(-len(counts) // _MAX_BAR)
    parts = [counts[start : start + each] for start in range(0, len(counts), each)]
    signs = {(True, True): _PRESENT, (True, False): _PARTLY, (False, False): _ABSENT}
    return "".join(signs[any(part), all(part)] for part in parts)


_COLUMNS: list[SheetColumn[Timeline]] = [
    SheetColumn("source", lambda row: row.source),
    SheetColumn("spec", lambda row: row.name, sort_key=version_key),
    hash_column(lambda row: row.hash or None),
    SheetColumn("since", lambda row: row.since, "first seen"),
    SheetColumn("until", lambda row: row.until, "last seen", wraps=True),
    SheetColumn("builds", lambda row: len(row.hashes)),
    SheetColumn("counts", lambda row: row.counts, "", text=_bar, style="bar", least=_MAX_BAR),
    SheetColumn("hashes", lambda row: row.hashes, drawn=False),
    SheetColumn("dates", lambda row: [each.when for each in row.observations], drawn=False),
    SheetColumn("labels", lambda row: [each.label for each in row.observations], drawn=False),
]


def _read_timelines(
    asked: Asked, catalog: Catalog, query: Query, by: str
) -> tuple[list[Timeline], list[str]]:
    """Return the timelines of the specs that match a query on columns in `_KNOWN`.

    Builds whose variants no snapshot has are left out; the sentences that come second count them,
    and name snapshots and revisions that cannot be read. Raises Cancelled.
    """
    kinds, failures = dict[str, Sequence[Sequence[Observation]]](), list[str]()
    texts: dict[str, str] = {}
    # Names in the catalog lack the bytes of a path that are not text.
    paths = {storable(path): path for path in asked.sources}
    for source in catalog.sources:
        name = source.name
        its, unread = read_snapshots([name], asked.session.environ)
        kinds[name] = its
        failures += unread
        if is_local_path(name):
            path = paths.get(name, name)
            revisions, failure = of_revisions(path)
            its.append(revisions)
            failures += [failure] if failure else []
        # Specs of dated tags are not all there now.
        if not (tags := _of_tags(catalog, name)) and is_read(source):
            now = time_text(time.time())
            tags = [observe(now, "now", of_source(catalog, name), ())]
        its.append(tags)
        for each in chain.from_iterable(its):
            for hash_, text in each.came.items():
                texts[hash_] = fuller_text(texts.get(hash_, ""), text)
    wanted = {hash_: text for hash_, text in texts.items() if _fits(query, hash_, text)}
    unknown = sum(
        _fits(query, hash_, text, unknown=True)
        for hash_, text in texts.items()
        if hash_ not in wanted
    )
    if unknown:
        failures.append(f"left out: {counted(unknown, 'build')} with unknown variants")
    lines = (timelines(source, its, wanted, by) for source, its in kinds.items())
    return list(chain.from_iterable(lines)), failures


def _fits(query: Query, hash_: str, text: str, *, unknown: bool = False) -> bool:
    """Check a spec; conditions on variants that are not recorded return `unknown`."""
    spec, *variants = text.split(BETWEEN)
    package, _, version = spec.partition("@")
    named: dict[str, Value] = {"package": package, "version": version, "hash": hash_}
    values = {**named, "variants": tuple(variants)}

    def fits(condition: Condition) -> bool:
        if not isinstance(condition, Term) or (condition.column == "variants" and not variants):
            return unknown
        its = values[condition.column]
        return condition.fits(condition.column, its) is not condition.negated

    return all(any(map(fits, group)) for group in query.groups)


def timelines(
    source: str, kinds: Iterable[Sequence[Observation]], wanted: Specs, by: str
) -> list[Timeline]:
    """Return the timelines of the wanted specs in a source, the newest version first.

    Each timeline is of one VERSION, one HASH or one value of the variant `by`. Raises Cancelled.
    """
    observations = sorted(chain.from_iterable(kinds), key=lambda each: each.when)
    places = {id(each): place for place, each in enumerate(observations)}
    keys, lines = dict[str, str](), dict[str, Timeline]()
    for kind in kinds:
        now = Counter[str]()
        for each in kind:
            report_progress("snapshots compared", places[id(each)], len(places))
            for hash_ in each.came:
                if hash_ in wanted and hash_ not in keys:
                    name, query = _line(wanted[hash_], by)
                    keys[hash_] = key = hash_ if by == HASH else name
                    counts = [0] * len(observations)
                    empty = Timeline(source, observations, name, query, [], counts)
                    lines.setdefault(key, empty).hashes.append(hash_)
            now.subtract(keys[hash_] for hash_ in each.went if hash_ in keys)
            now.update(keys[hash_] for hash_ in each.came if hash_ in keys)
            for key, count in now.items():
                lines[key].counts[places[id(each)]] = count
    return sorted(lines.values(), key=lambda line: version_key(line.name), reverse=True)


@lru_cache(1 << 14)
def _line(text: str, by: str) -> tuple[str, Query]:
    """Return the name of the timeline that a spec belongs to, and the query for its specs."""
    spec, *variants = text.split(BETWEEN)
    package, _, version = spec.partition("@")
    query = Query().with_package(package)
    if by in (VERSION, HASH):
        return spec, query.also(exact_term("version", version))
    for variant in variants:
        if split_variant(variant)[0] == by:
            name = f"{package} {variant_key(variant)}"
            return name, query.also(exact_term("variants", variant))
    return f"{package}, " + (f"no variant {by}" if variants else f"{by} unknown"), query


def _of_tags(catalog: Catalog, source: str) -> list[Observation]:
    """Return observations of the dated tags of a source, as `develop-2026-01-18`, oldest first."""
    dated = ((match[0], tag) for tag in catalog.texts("tag") if (match := _DATE.search(tag)))
    observations, before = list[Observation](), dict[str, str]()
    for date, tag in sorted(dated):
        query = exact_query("source", source).also(exact_term("tag", tag))
        if not (specs := matching_specs(catalog, query)):
            continue
        observations.append(observe(date, tag, specs, before))
        before = specs
    return observations


class _Revision(NamedTuple):
    """A revision of a file: its commit and time, its blob or "" where it is gone, and its size."""

    commit: str
    seconds: int
    blob: str
    size: int = 0


class _Revisions(Git):
    """Reads the revisions of a file."""

    def revisions(self, name: str) -> tuple[list[_Revision], str]:
        """Return the revisions of a file, newest first, and why these may not be all.

        The output of the commands depends on no configuration. Raises Cancelled.
        """
        most = f"--max-count={MAX_OBSERVATIONS}"
        log, reason = self.run("rev-list", "--timestamp", most, "HEAD", "--", name)
        if not log:
            return [], reason
        # The last line may be cut.
        lines = [line.split() for line in log[: log.rfind(b"\n") + 1].splitlines()]
        commits = b"".join(commit + b"\n" for _, commit in lines)
        # A merge that is listed is compared with each of its parents.
        options = ("--stdin", "--root", "-m", "-r", "-z")
        changes, failure = self.run("diff-tree", *options, "--", name, data=commits)
        blobs, commit, words = dict[bytes, bytes](), b"", iter(changes.split(b"\0")[:-1])
        for word in words:
            if word.startswith(b":"):
                *_, blob, status = word.split()
                blobs[commit] = b"" if status == b"D" else blob
                next(words, None)
            else:
                commit = word
        revisions = [
            _Revision(commit.decode(), int(seconds), blobs[commit].decode())
            for seconds, commit in lines
            if commit in blobs
        ]
        return revisions, reason or failure

    def readable(self, revisions: Sequence[_Revision]) -> tuple[list[_Revision], str]:
        """Return the revisions that can be read, newest first, with their sizes.

        The sentence says why other revisions are not read. Raises Cancelled.
        """
        sizes = "--batch-check=%(objectsize) %(objectsize:disk)"
        names = "".join(f"{each.blob}\n" for each in revisions if each.blob)
        checked, reason = self.run("cat-file", sizes, data=names.encode())
        lines, total, readable = iter(checked.splitlines()), 0, list[_Revision]()
        for each in revisions:
            try:
                size, packed = map(int, next(lines, b"").split()) if each.blob else (0, 0)
            except ValueError:
                reason = reason or "git does not have them"
                continue
            if size > (most := max_unpacked_size(packed)):
                reason = reason or str(too_large(size, most))
            elif (total := total + size) > MAX_REVISIONS_SIZE:
                sizes = f"the newer ones have {total - size:,} bytes"
                reason = reason or f"{sizes}; at most {MAX_REVISIONS_SIZE:,} are read"
                break
            else:
                readable.append(each._replace(size=size))
        return readable, reason


def of_revisions(path: str) -> tuple[list[Observation], str]:
    """Return the specs in each revision of a file in a git work tree, oldest first.

    Links are followed, and an environment stands for its lock file. The sentence that comes
    second says why not all revisions were read; it is empty if all were, or if the file is not
    in a work tree. Raises Cancelled.
    """
    file = os.path.realpath(os.path.join(path, "spack.lock") if os.path.isdir(path) else path)
    directory, name = os.path.split(file)
    # Git itself may be missing.
    is_in_work_tree = any(os.path.lexists(each / ".git") for each in PurePath(file).parents)
    if not (os.path.isfile(file) and is_in_work_tree):
        return [], ""
    git = _Revisions(directory)
    revisions, reason = git.revisions(name)
    readable, unread = git.readable(revisions) if revisions else ([], "")
    reasons, observations, known = [reason, unread], list[Observation](), dict[str, str]()
    before: Specs = {}
    try:
        contents = git.contents([(each.blob, each.size) for each in reversed(readable)])
        for number, (its, data) in enumerate(zip(reversed(readable), contents, strict=True)):
            report_progress("revisions read", number, len(readable))
            try:
                specs = _specs_in(data, known) if its.blob else {}
                when = time_text(its.seconds)
            except (OSError, ValueError, OverflowError) as error:
                reasons.append(str(error))
                continue
            observations.append(observe(when, its.commit[:_SHORT_COMMIT], specs, before))
            known.update(before := specs)
    except Unreadable as error:
        reasons.append(str(error))
    reason = next(filter(None, reasons), "")
    return observations, f"not all revisions of {path} were read: {reason}" if reason else ""


def _specs_in(data: bytes, known: Specs) -> Specs:
    """Return the specs that a document lists, such as a lock file. Raises Unreadable.

    Specs of a lock file that are `known` are not read again.
    """
    specs: dict[str, str] = {}
    # Any other document is parsed once.
    if b'"concrete_specs"' in data:
        with contextlib.suppress(*ODD):
            document, _ = parse(decode(data), decoder=AS_SPACK, whole=True)
            nodes = document["concrete_specs"]
            document["concrete_specs"] = {h: node for h, node in nodes.items() if h not in known}
            specs = {hash_: known[hash_] for hash_ in nodes if hash_ in known}
            data = json.dumps(document).encode()
            del document, nodes
    items = list(read_document(data, origin=""))
    for group in (item for item in items if isinstance(item, Records)):
        for hash_, number in zip(group.hashes, group.numbers, strict=True):
            if (look := group.looks[number]).in_cache:
                specs[hash_] = spec_text(look)
    if items and not specs:
        raise Unreadable(str(items[0]))
    return specs

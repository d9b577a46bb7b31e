"""Find since when specs are in a source, and when they went: snapshots, dated tags, revisions."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import re
import subprocess
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from subprocess import DEVNULL, PIPE
from typing import IO, Any, cast

from spackscope.model.core.columns import Value
from spackscope.model.core.errors import Cancelled, Unreadable, Unwritable
from spackscope.model.core.files import (
    MAX_FILE_SIZE,
    max_unpacked_size,
    read_private,
    too_large,
    write_private,
    xdg_dir,
)
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Look, Problem, Spec, is_hash
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean, counted
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Condition, Query, Term, exact_term
from spackscope.model.readers.formats import read_document
from spackscope.model.readers.json import storable
from spackscope.model.sources.source_name import is_local_path

KNOWN = ("package", "version", "hash", "variants")
"""Columns that snapshots, revisions and tags have in common."""

VERSION, HASH = "version", "hash"
"""What there is a timeline for each of, where it is no variant."""

MAX_OBSERVATIONS = 500
"""Observations of a source that are kept and read: weeks of almost ten years."""

_MAX_SNAPSHOTS = 2**26
"""Bytes of the file with the snapshots of a source."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_GIT_TIMEOUT = 30.0

_BETWEEN = "\t"
"""What is between the variants of a spec, whose values may have blanks."""

Specs = Mapping[str, str]
"""Specs by their hashes, each as `name@version` with its variants, as far as they are told."""


class Observation(Frozen):
    """What a source had at a time: an ISO date, or with the time of day.

    `label` is what tells it from others: a tag, a revision, or the word snapshot.
    """

    when: str
    label: str
    specs: Specs


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%MZ")


def spec_texts(catalog: Catalog, ids: Sequence[int]) -> dict[str, str]:
    """Return the texts of some specs by their hashes; look-alikes share one."""
    numbers = [catalog.look_alike(id_) for id_ in ids]
    distinct = list(dict.fromkeys(numbers))
    specs = catalog.records([catalog.span(number)[0] for number in distinct])
    texts = dict(zip(distinct, map(_text, specs), strict=True))
    return dict(zip(catalog.hashes.of(ids), map(texts.__getitem__, numbers), strict=True))


def _text(spec: Spec | Look) -> str:
    return _BETWEEN.join([f"{spec.package}@{spec.version}", *spec.variants])


def _better(text: str, other: str) -> str:
    """Return the one of two texts of a spec that tells more: a hash has the same variants always.

    What snapshots kept until there were variants in them is `name@version` only.
    """
    return max(text, other, key=len)


def of_source(catalog: Catalog, source: str) -> Specs:
    """Return the listed specs of one of the sources."""
    return spec_texts(catalog, catalog.match(Query().also(exact_term("source", source))).ids())


def of_tags(catalog: Catalog, source: str) -> list[Observation]:
    """Return what the dated tags of a source have, as `develop-2026-01-18`, oldest first."""
    ids: dict[str, list[int]] = {}
    for row in catalog.rows(catalog.match(Query().also(exact_term("source", source))).ids()):
        if _DATE.search(row.spec.tag):
            ids.setdefault(row.spec.tag, []).append(row.id)
    dated = [
        Observation(match[0], tag, spec_texts(catalog, of_tag))
        for tag, of_tag in ids.items()
        if (match := _DATE.search(tag))
    ]
    return sorted(dated, key=lambda each: each.when)


class Snapshots:
    """The snapshots of a source: one file in the state directory, with what came and went.

        Snapshots("spack:site", os.environ).add(of_source(catalog, "spack:site"))

    A file that cannot be read is a problem, and is never written over.
    """

    def __init__(self, source: str, environ: Mapping[str, str]) -> None:
        self.source = source
        # A path is another source in another directory.
        name = os.path.abspath(source) if os.path.exists(source) else source
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        state = xdg_dir(environ, "state")
        self.path = os.path.join(state, "snapshots", f"{digest}.json.gz") if state else ""

    def read(self) -> list[Observation]:
        """Return the snapshots, oldest first; none without a file. Raises Unreadable."""
        observations = list[Observation]()
        specs: dict[str, str] = {}
        for step in self._steps():
            specs = {h: text for h, text in specs.items() if h not in step["removed"]}
            specs |= step["added"]
            observations.append(Observation(step["when"], "snapshot", specs))
        return observations

    def add(self, specs: Specs, now: float) -> tuple[int, int]:
        """Add a snapshot, and return how many specs came and went since the last one.

        Where nothing did the last one gets the new time. Raises Unreadable and Unwritable.
        """
        if not self.path:
            raise Unwritable("there is no home directory to keep a snapshot in")
        steps, before = self._steps(), self.read()
        old = before[-1].specs if before else {}
        for step in steps:
            known = step["added"]
            known |= {h: _better(known[h], specs[h]) for h in known.keys() & specs.keys()}
        added = {hash_: text for hash_, text in specs.items() if hash_ not in old}
        removed = {hash_ for hash_ in old if hash_ not in specs}
        when = _time_text(now)
        if len(steps) > 1 and not (added or removed or steps[-1]["added"] or steps[-1]["removed"]):
            steps.pop()
        steps.append({"when": when, "added": added, "removed": removed})
        while len(steps) > MAX_OBSERVATIONS:
            first, second = steps[:2]
            kept = {h: t for h, t in first["added"].items() if h not in second["removed"]}
            steps[:2] = [{**second, "added": kept | second["added"], "removed": set()}]
        data = json.dumps({"source": self.source, "snapshots": steps}, default=sorted).encode()
        write_private(self.path, gzip.compress(data, mtime=0))
        return len(added), len(removed)

    def _steps(self) -> list[dict[str, Any]]:
        if not self.path or not os.path.lexists(self.path):
            return []
        try:
            packed = read_private(self.path, _MAX_SNAPSHOTS)
            unpacker = zlib.decompressobj(wbits=31)
            data = unpacker.decompress(packed, max_unpacked_size(len(packed)))
            steps = [
                {
                    "when": storable(str(step["when"])),
                    "added": {h: storable(str(t)) for h, t in step["added"].items() if is_hash(h)},
                    "removed": {hash_ for hash_ in step["removed"] if is_hash(hash_)},
                }
                for step in json.loads(data)["snapshots"]
            ]
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            zlib.error,
        ):
            raise Unreadable(f"the snapshots in {self.path} cannot be read") from None
        return steps


def add_snapshots(catalog: Catalog, environ: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    """Add a snapshot of each source; yield whether it was kept, and what came of it.

    Nothing is kept of a source that could not be read.
    """
    for source in catalog.sources:
        name = clean(source.name)
        if source.failure:
            yield False, f"{name} could not be read"
            continue
        specs = of_source(catalog, source.name)
        try:
            added, removed = Snapshots(source.name, environ).add(specs, time.time())
        except (Unreadable, Unwritable) as error:
            yield False, f"{name}: {error}"
        else:
            counts = f"{added:,} new, {removed:,} gone"
            yield True, f"{name}: {counted(len(specs), 'spec')}, {counts}"


def of_revisions(path: str, should_stop: ShouldStop = never) -> tuple[list[Observation], str]:
    """Return what the revisions of a file in a git work tree have, oldest first.

    Of a link it is the file that it leads to, and of an environment its lock file. The sentence
    that comes second says why not all revisions are told; it is empty where all are, or where the
    file is in no work tree. Raises Cancelled.
    """
    file = os.path.realpath(os.path.join(path, "spack.lock") if os.path.isdir(path) else path)
    directory, name = os.path.split(file)
    if not (os.path.isfile(file) and _is_in_work_tree(directory)):
        return [], ""
    # A hook of git names its own work tree there.
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environ |= {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    # What the configuration of a work tree names is not run: nothing is fetched either.
    safe = ("-c", "core.fsmonitor=false", "-c", "core.pager=cat", "--literal-pathspecs")
    git = ("git", *safe, "-C", directory)

    def run(*words: str, lines: Iterable[bytes] = ()) -> str:
        data = b"".join(lines)
        try:
            done = subprocess.run(
                [*git, *words], input=data, capture_output=True, timeout=_GIT_TIMEOUT, env=environ
            )
        except (OSError, subprocess.TimeoutExpired):
            limit = f"{_GIT_TIMEOUT:.0f} s"
            raise Unreadable(f"git cannot be run, or takes more than {limit}") from None
        if done.returncode:
            raise Unreadable(done.stderr.decode(errors="replace").partition("\n")[0])
        return done.stdout.decode()

    only = ("--no-show-signature", f"-{MAX_OBSERVATIONS}", "--format=%h %ct", "--", name)
    observations, known, reason = list[Observation](), dict[str, str](), ""
    try:
        log = run("log", *only).split()
        removals = run("log", "--diff-filter=D", *only).split()[::2]
        blobs = [os.fsencode(f"{label}:./{name}\n") for label in log[::2]]
        sizes = run("cat-file", "--batch-check=%(objectsize)", lines=blobs).splitlines()
        batch = [*git, "cat-file", "--batch"]
        with subprocess.Popen(
            batch, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environ
        ) as process:
            for label, when, blob, size in zip(log[::2], log[1::2], blobs, sizes, strict=True):
                if should_stop():
                    raise Cancelled
                try:
                    specs = (
                        {}
                        if label in removals
                        else _specs_in(_content(process, blob, size), known)
                    )
                    observations.append(Observation(_time_text(int(when)), label, specs))
                    known |= specs
                except (OSError, ValueError, OverflowError) as error:
                    reason = reason or str(error)
    except (OSError, ValueError) as error:
        reason = str(error)
    return observations[::-1], f"not all revisions of {path} are told: {reason}" if reason else ""


def _is_in_work_tree(directory: str) -> bool:
    """Check for a work tree as git does, but without git, which may be missing."""
    parent = os.path.dirname(directory)
    is_top = os.path.lexists(os.path.join(directory, ".git"))
    return is_top or (parent != directory and _is_in_work_tree(parent))


def _content(process: subprocess.Popen[bytes], blob: bytes, checked: str) -> bytes:
    """Ask `git cat-file --batch` for a file. Raises OSError.

    What its `--batch-check` answered is the size, unless a partial clone lacks the file.
    """
    if not checked.isdecimal():
        raise OSError("git lacks it")
    if (size := int(checked)) > MAX_FILE_SIZE:
        raise too_large(size, MAX_FILE_SIZE)
    asks, answers = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
    asks.write(blob)
    asks.flush()
    answers.readline()
    return answers.read(size + 1)[:-1]


def _specs_in(data: bytes, known: Specs) -> Specs:
    """Return the specs that a document lists, such as a lock file. Raises Unreadable.

    Those of a lock file that are `known` are not read again.
    """
    specs, problems = dict[str, str](), list[Problem]()
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        document = json.loads(data)
        nodes = document["concrete_specs"]
        document["concrete_specs"] = {h: node for h, node in nodes.items() if h not in known}
        specs = {hash_: known[hash_] for hash_ in nodes if hash_ in known}
        data = json.dumps(document).encode()
    for item in read_document(data, origin=""):
        if isinstance(item, Problem):
            problems.append(item)
            continue
        for hash_, number in zip(item.hashes, item.numbers, strict=True):
            if (look := item.looks[number]).in_cache:
                specs[hash_] = _text(look)
    if problems and not specs:
        raise Unreadable(str(problems[0]))
    return specs


def observations_of(
    catalog: Catalog, source: str, environ: Mapping[str, str], should_stop: ShouldStop = never
) -> tuple[list[Observation], list[str]]:
    """Return all that is known of a source, oldest first, and what it has now.

    The sentences that come second say what cannot be read. Raises Cancelled.
    """
    observations, failures = list[Observation](), list[str]()
    try:
        observations += Snapshots(source, environ).read()
    except Unreadable as error:
        failures.append(str(error))
    if is_local_path(source):
        revisions, failure = of_revisions(source, should_stop)
        observations += revisions
        failures += [failure] if failure else []
    # What dated tags have is not all there now.
    if not (tags := of_tags(catalog, source)):
        tags = [Observation(_time_text(time.time()), "now", of_source(catalog, source))]
    return sorted([*observations, *tags], key=lambda each: each.when), failures


class Timeline(Frozen):
    """When some specs were in a source: at which of the observations, and how many there were.

    `first` and `last` are the numbers of observations; `hashes` are all that there ever were, and
    `query` finds the like.
    """

    name: str
    query: Query
    hashes: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def first(self) -> int:
        """The number of the first observation that has one."""
        return next(number for number, count in enumerate(self.counts) if count)

    @property
    def last(self) -> int:
        """The number of the last observation that has one."""
        return max(number for number, count in enumerate(self.counts) if count)


def timelines(
    observations: Sequence[Observation], wanted: Specs, by: str = VERSION
) -> list[Timeline]:
    """Return the timelines of the wanted specs by VERSION, by HASH or by the name of a variant."""
    lines: dict[str, tuple[str, Query]] = {}
    groups: dict[str, list[str]] = {}
    for hash_ in {hash_: None for each in observations for hash_ in each.specs if hash_ in wanted}:
        name, query = _line(wanted[hash_], by)
        key = hash_ if by == HASH else name
        lines.setdefault(key, (name, query))
        groups.setdefault(key, []).append(hash_)
    return [
        Timeline(
            *lines[key],
            tuple(hashes),
            tuple(sum(h in each.specs for h in hashes) for each in observations),
        )
        for key, hashes in groups.items()
    ]


@lru_cache(1 << 14)
def _line(text: str, by: str) -> tuple[str, Query]:
    """Return the name of the line that a spec belongs to, and the query for what it stands for."""
    spec, *variants = text.split(_BETWEEN)
    package, _, version = spec.partition("@")
    query = Query().with_package(package)
    if by in (VERSION, HASH):
        return spec, query.also(exact_term("version", version))
    for variant in variants:
        if split_variant(variant)[0] == by:
            name = f"{package} {variant_key(variant)}"
            return name, query.also(exact_term("variants", variant))
    return f"{package}, " + (f"no variant {by}" if variants else f"{by} not told"), query


History = tuple[Sequence[Observation], Sequence[Timeline]]
"""What is known of a source: its observations, and the timelines of what was asked for."""


def read_history(
    catalog: Catalog,
    query: Query,
    environ: Mapping[str, str],
    should_stop: ShouldStop = never,
    by: str = VERSION,
) -> tuple[dict[str, History], list[str]]:
    """Return the observations of each source with the timelines of what a query asks for.

    The query has conditions on the columns `KNOWN` only. What no observation tells of a hash fits
    none of them: how many builds are left out for that, and what cannot be read, is in
    the sentences that come second. Raises Cancelled.
    """
    observations, failures = dict[str, list[Observation]](), list[str]()
    texts: dict[str, str] = {}
    for source in catalog.sources:
        looks, failed = observations_of(catalog, source.name, environ, should_stop)
        observations[source.name] = looks
        failures += failed
        for look in looks:
            for hash_, text in look.specs.items():
                texts[hash_] = _better(texts.get(hash_, ""), text)
    wanted = {hash_: text for hash_, text in texts.items() if _fits(query, hash_, text)}
    untold = sum(
        _fits(query, hash_, text, untold=True)
        for hash_, text in texts.items()
        if hash_ not in wanted
    )
    if untold:
        failures.append(f"left out: {counted(untold, 'build')} whose variants are not told")
    return {
        source: (looks, timelines(looks, wanted, by)) for source, looks in observations.items()
    }, failures


def _fits(query: Query, hash_: str, text: str, *, untold: bool = False) -> bool:
    """Check a spec; conditions on variants that are not told have the answer `untold`."""
    spec, *variants = text.split(_BETWEEN)
    package, _, version = spec.partition("@")
    named: dict[str, Value] = {"package": package, "version": version, "hash": hash_}
    values = {**named, "variants": tuple(variants)}

    def fits(condition: Condition) -> bool:
        if not isinstance(condition, Term) or (condition.column == "variants" and not variants):
            return untold
        its = values[condition.column]
        return condition.fits(condition.column, its) is not condition.negated

    return all(any(map(fits, group)) for group in query.groups)

"""Find since when specs are in a source, and when they went: snapshots, dated tags, revisions."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache, partial
from itertools import accumulate, chain, groupby
from pathlib import PurePath
from signal import SIGKILL
from subprocess import PIPE, Popen, TimeoutExpired
from typing import NamedTuple

from spackscope.model.core.columns import Value
from spackscope.model.core.errors import Cancelled, Unreadable, Unwritable
from spackscope.model.core.files import (
    SMALL_UNPACKED_SIZE,
    max_unpacked_size,
    read_private,
    too_large,
    write_private,
    xdg_dir,
)
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LookAlike, Records, SourceStatus, Spec, is_hash
from spackscope.model.core.tasks import OnProgress, ShouldStop, never, no_progress, run_cancellable
from spackscope.model.core.text import clean, counted
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Condition, Query, Term, exact_query, exact_term
from spackscope.model.readers.formats import read_document
from spackscope.model.readers.json import AS_SPACK, parse, storable, too_many_values
from spackscope.model.readers.unpack import decode, decompress
from spackscope.model.sources.source_name import is_local_path

KNOWN = ("package", "version", "hash", "variants")
"""Columns that snapshots, revisions and tags have in common."""

VERSION, HASH = "version", "hash"
"""What there is a timeline for each of, where it is no variant."""

MAX_OBSERVATIONS = 500
"""Observations of a source that are kept and read: weeks of almost ten years."""

_MAX_SNAPSHOTS = 2**26
"""Bytes of the file with the snapshots of a source."""

MAX_REVISIONS_SIZE = 2**30
"""Bytes of all revisions of a file that are read: 500 of a lock file with 700 specs."""

GIT_TIMEOUT = 5
"""Seconds that a command of git may take."""

_MAX_ERROR = 2**12
"""Bytes of the first line of an error of git."""

_SHORT_COMMIT = 10
"""Characters of a commit, which are unique in all but the largest repositories."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What is raised by a document that is another than expected."""

_BETWEEN = "\t"
"""What is between the variants of a spec, whose values may have blanks."""

Specs = Mapping[str, str]
"""Specs by their hashes, each as `name@version` with its variants, as far as they are told."""


class Observation(Frozen):
    """What came and went until a time: an ISO date, or with the time of day.

    That is since the observation before of the same kind: all that a source had each time would
    fill the memory. `label` is what tells it from others: a tag, a revision, or the word snapshot.
    """

    when: str
    label: str
    came: Specs
    went: Sequence[str]


def _observe(when: str, label: str, specs: Specs, before: Collection[str]) -> Observation:
    """Return the observation of what a source has, which had others before."""
    came = {hash_: text for hash_, text in specs.items() if hash_ not in before}
    went = sorted(hash_ for hash_ in before if hash_ not in specs)
    return Observation(when, label, came, went)


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%MZ")


def _specs_of(catalog: Catalog, query: Query) -> dict[str, str]:
    """Return the texts of the specs that match by their hashes; look-alikes share one."""
    ids = catalog.match(query).ids()
    numbers = [catalog.look_alike(id_) for id_ in ids]
    distinct = list(dict.fromkeys(numbers))
    specs = catalog.records([catalog.span(number)[0] for number in distinct])
    texts = dict(zip(distinct, map(_text, specs), strict=True))
    return dict(zip(catalog.hashes.of(ids), map(texts.__getitem__, numbers), strict=True))


def _text(spec: Spec | LookAlike) -> str:
    return _BETWEEN.join([f"{spec.package}@{spec.version}", *spec.variants])


def _better(text: str, other: str) -> str:
    """Return the one of two texts of a spec that tells more: a hash has the same variants always.

    What snapshots kept until there were variants in them is `name@version` only.
    """
    return max(text, other, key=len)


def of_source(catalog: Catalog, source: str) -> Specs:
    """Return the listed specs of one of the sources."""
    return _specs_of(catalog, exact_query("source", source))


def of_tags(catalog: Catalog, source: str) -> list[Observation]:
    """Return what the dated tags of a source have, as `develop-2026-01-18`, oldest first."""
    dated = ((match[0], tag) for tag in catalog.texts("tag") if (match := _DATE.search(tag)))
    observations, before = list[Observation](), dict[str, str]()
    for date, tag in sorted(dated):
        query = exact_query("source", source).also(exact_term("tag", tag))
        if not (specs := _specs_of(catalog, query)):
            continue
        observations.append(_observe(date, tag, specs, before))
        before = specs
    return observations


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

    def add(self, specs: Specs, now: float, *, is_whole: bool = True) -> tuple[int, int]:
        """Add a snapshot, and return how many specs came and went since the last one.

        Where nothing did the last one gets the new time. Of a source that was not read whole
        nothing has gone. Raises Unreadable and Unwritable.
        """
        if not self.path:
            raise Unwritable("there is no home directory to keep a snapshot in")
        steps, old = list[Observation](), set[str]()
        for step in self.read():
            old.difference_update(step.went)
            old.update(step.came)
            told = {h: _better(text, specs.get(h, "")) for h, text in step.came.items()}
            steps.append(replace(step, came=told))
        new = _observe(_time_text(now), "snapshot", specs, old)
        new = new if is_whole else replace(new, went=())
        if len(steps) > 1 and not (new.came or new.went or steps[-1].came or steps[-1].went):
            steps.pop()
        steps.append(new)
        while len(steps) > MAX_OBSERVATIONS:
            first, second = steps[:2]
            stayed = {h: text for h, text in first.came.items() if h not in second.went}
            steps[:2] = [replace(second, came={**stayed, **second.came}, went=())]
        kept = [{"when": each.when, "added": each.came, "removed": each.went} for each in steps]
        data = json.dumps({"source": self.source, "snapshots": kept}).encode()
        write_private(self.path, gzip.compress(data, mtime=0))
        return len(new.came), len(new.went)

    def read(self) -> list[Observation]:
        """Return the snapshots, oldest first; none without a file. Raises Unreadable."""
        if not self.path or not os.path.lexists(self.path):
            return []
        try:
            data, reason = decompress(read_private(self.path, _MAX_SNAPSHOTS))
            text = decode(data)
            if reason := reason or too_many_values(text):
                raise Unreadable(reason)
            return [
                Observation(
                    storable(str(step["when"])),
                    "snapshot",
                    {h: storable(str(t)) for h, t in step["added"].items() if is_hash(h)},
                    [hash_ for hash_ in step["removed"] if is_hash(hash_)],
                )
                for step in json.loads(text)["snapshots"]
            ]
        except (OSError, *_ODD) as error:
            why = f": {error}" if isinstance(error, Unreadable) else ""
            raise Unreadable(f"the snapshots in {self.path} cannot be read{why}") from None


def read_snapshots(
    sources: Iterable[str], environ: Mapping[str, str]
) -> tuple[list[Sequence[Observation]], list[str]]:
    """Return the snapshots of each source, and a sentence for each that cannot be read."""
    snapshots, failures = list[Sequence[Observation]](), list[str]()
    for source in sources:
        try:
            snapshots.append(Snapshots(source, environ).read())
        except Unreadable as error:
            failures.append(str(error))
    return snapshots, failures


def _is_read(source: SourceStatus) -> bool:
    """Check whether a source tells what it has: what cannot be read has not gone."""
    return not source.failure and (source.specs > 0 or not source.problems)


def add_snapshots(catalog: Catalog, environ: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    """Add a snapshot of each source; yield whether it was kept, and what came of it.

    Nothing is kept of a source that could not be read.
    """
    for source in catalog.sources:
        name = clean(source.name)
        if not _is_read(source):
            yield False, f"{name} could not be read"
            continue
        specs = of_source(catalog, source.name)
        try:
            added, removed = Snapshots(source.name, environ).add(
                specs, time.time(), is_whole=not source.problems
            )
        except (Unreadable, Unwritable) as error:
            yield False, f"{name}: {error}"
        else:
            counts = f"{added:,} new, {removed:,} gone"
            yield True, f"{name}: {counted(len(specs), 'spec')}, {counts}"


class _Revision(NamedTuple):
    """A revision of a file: its commit and time, its blob or "" where it is gone, and its size."""

    commit: str
    seconds: int
    blob: str
    size: int = 0


class _Git:
    """Runs git in a directory; nothing that the configuration there names is run or fetched."""

    def __init__(self, directory: str, should_stop: ShouldStop) -> None:
        self._should_stop = should_stop
        # A hook of git names its own work tree there.
        environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        self._environ = environ | {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
        safe = ("-c", "core.fsmonitor=false", "-c", "fetch.bundleURI=", "--literal-pathspecs")
        self._command = ("git", *safe, "-C", directory)

    def run(self, *words: str, data: bytes = b"") -> tuple[bytes, str]:
        """Return what a command prints, and why that may not be all. Raises Cancelled.

        It is killed where it takes too long: a file that git opens may be a FIFO.
        """
        with tempfile.TemporaryFile() as errors:
            try:
                process = Popen(
                    [*self._command, *words],
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=errors,
                    env=self._environ,
                    start_new_session=True,
                )
            except OSError:
                return b"", "git cannot be run"
            with process:
                answer = partial(process.communicate, data, GIT_TIMEOUT)
                try:
                    printed, _ = run_cancellable(answer, self._should_stop)
                except TimeoutExpired as late:
                    return late.stdout or b"", f"git takes more than {GIT_TIMEOUT} s"
                finally:
                    if process.poll() is None:
                        # It may end at this moment.
                        with contextlib.suppress(OSError):
                            os.killpg(process.pid, SIGKILL)
            errors.seek(0)
            line = errors.readline(_MAX_ERROR).decode(errors="replace").strip()
        return printed, (line or "git fails") if process.returncode else ""

    def revisions(self, name: str) -> tuple[list[_Revision], str]:
        """Return the revisions of a file, newest first, and why these may not be all.

        What the commands print depends on no configuration. Raises Cancelled.
        """
        most = f"--max-count={MAX_OBSERVATIONS}"
        log, reason = self.run("rev-list", "--timestamp", most, "HEAD", "--", name)
        if not log:
            return [], reason
        # What comes last may be cut.
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
        """Return the revisions with their sizes, newest first, without those that are not read.

        The sentence says why these are not. Raises Cancelled.
        """
        sizes = "--batch-check=%(objectsize) %(objectsize:disk)"
        checked, reason = self.run("cat-file", sizes, data=_blobs(revisions))
        lines, total, readable = iter(checked.splitlines()), 0, list[_Revision]()
        for each in revisions:
            try:
                size, packed = map(int, next(lines, b"").split()) if each.blob else (0, 0)
            except ValueError:
                reason = reason or "git lacks it"
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

    def contents(self, revisions: Sequence[_Revision]) -> Iterator[tuple[_Revision, bytes]]:
        """Yield each revision with the content of the file. Raises Unreadable and Cancelled."""
        ends = accumulate(each.size for each in revisions)
        # Small ones are read together.
        batches = groupby(revisions, lambda _: next(ends) // SMALL_UNPACKED_SIZE)
        for batch in (list(group) for _, group in batches):
            answer, reason = self.run("cat-file", "--batch", data=_blobs(batch))
            end = 0
            for its in batch:
                start = answer.find(b"\n", end) + 1 if its.blob else end
                end = start + its.size
                if end > len(answer):
                    raise Unreadable(reason or "git ended before the end of it")
                yield its, answer[start:end]
                end += bool(its.blob)


def _blobs(revisions: Iterable[_Revision]) -> bytes:
    """Return the lines that ask `git cat-file` for what a file has in some revisions."""
    return "".join(f"{each.blob}\n" for each in revisions if each.blob).encode()


def of_revisions(
    path: str, should_stop: ShouldStop = never, on_progress: OnProgress = no_progress
) -> tuple[list[Observation], str]:
    """Return what the revisions of a file in a git work tree have, oldest first.

    Of a link it is the file that it leads to, and of an environment its lock file. The sentence
    that comes second says why not all revisions are told; it is empty where all are, or where the
    file is in no work tree. Raises Cancelled.
    """
    file = os.path.realpath(os.path.join(path, "spack.lock") if os.path.isdir(path) else path)
    directory, name = os.path.split(file)
    # Git itself may be missing.
    is_in_work_tree = any(os.path.lexists(each / ".git") for each in PurePath(file).parents)
    if not (os.path.isfile(file) and is_in_work_tree):
        return [], ""
    git = _Git(directory, should_stop)
    revisions, reason = git.revisions(name)
    readable, unread = git.readable(revisions) if revisions else ([], "")
    reasons, observations, known = [reason, unread], list[Observation](), dict[str, str]()
    before: Specs = {}
    try:
        for number, (its, data) in enumerate(git.contents(readable[::-1])):
            on_progress("revisions read", number, len(readable))
            if should_stop():
                raise Cancelled
            try:
                specs = _specs_in(data, known) if its.blob else {}
                when = _time_text(its.seconds)
            except (OSError, ValueError, OverflowError) as error:
                reasons.append(str(error))
                continue
            observations.append(_observe(when, its.commit[:_SHORT_COMMIT], specs, before))
            known.update(before := specs)
    except Unreadable as error:
        reasons.append(str(error))
    reason = next(filter(None, reasons), "")
    return observations, f"not all revisions of {path} are told: {reason}" if reason else ""


def _specs_in(data: bytes, known: Specs) -> Specs:
    """Return the specs that a document lists, such as a lock file. Raises Unreadable.

    Those of a lock file that are `known` are not read again.
    """
    specs: dict[str, str] = {}
    # Any other document is parsed once.
    if b'"concrete_specs"' in data:
        with contextlib.suppress(*_ODD):
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
                specs[hash_] = _text(look)
    if items and not specs:
        raise Unreadable(str(items[0]))
    return specs


class Timeline(Frozen):
    """When some specs were in a source: at which of the observations, and how many there were.

    `first` and `last` are the numbers of observations; `hashes` are all that there ever were, and
    `query` finds the like.
    """

    name: str
    query: Query
    hashes: list[str]
    counts: list[int]

    @property
    def first(self) -> int:
        """The number of the first observation that has one."""
        return next(number for number, count in enumerate(self.counts) if count)

    @property
    def last(self) -> int:
        """The number of the last observation that has one."""
        return max(number for number, count in enumerate(self.counts) if count)


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
    return f"{package}, " + (f"no variant {by}" if variants else f"{by} unknown"), query


History = tuple[Sequence[Observation], Sequence[Timeline]]
"""What is known of a source: its observations, and the timelines of what was asked for."""


def history_of(
    kinds: Iterable[Sequence[Observation]], wanted: Specs, by: str, should_stop: ShouldStop = never
) -> History:
    """Return the observations of a source by their times, and the timelines of the wanted specs.

    These are by VERSION, by HASH or by the name of a variant. Raises Cancelled.
    """
    observations = sorted(chain.from_iterable(kinds), key=lambda each: each.when)
    places = {id(each): place for place, each in enumerate(observations)}
    keys, lines = dict[str, str](), dict[str, Timeline]()
    for kind in kinds:
        now = Counter[str]()
        for each in kind:
            if should_stop():
                raise Cancelled
            for hash_ in each.came:
                if hash_ in wanted and hash_ not in keys:
                    name, query = _line(wanted[hash_], by)
                    keys[hash_] = key = hash_ if by == HASH else name
                    empty = Timeline(name, query, [], [0] * len(observations))
                    lines.setdefault(key, empty).hashes.append(hash_)
            now.subtract(keys[hash_] for hash_ in each.went if hash_ in keys)
            now.update(keys[hash_] for hash_ in each.came if hash_ in keys)
            for key, count in now.items():
                lines[key].counts[places[id(each)]] = count
    return observations, list(lines.values())


def read_history(
    catalog: Catalog,
    query: Query,
    environ: Mapping[str, str],
    should_stop: ShouldStop = never,
    by: str = VERSION,
    *,
    given: Sequence[str] = (),
    on_progress: OnProgress = no_progress,
) -> tuple[dict[str, History], list[str]]:
    """Return the observations of each source with the timelines of what a query asks for.

    The query has conditions on the columns `KNOWN` only. `given` are the sources as they were
    given, whose names in the catalog lack the bytes of a path that are not text. What no
    observation tells of a hash fits none of them: how many builds are left out for that, and what
    cannot be read, is in the sentences that come second. Raises Cancelled.
    """
    kinds, failures = dict[str, Sequence[Sequence[Observation]]](), list[str]()
    texts: dict[str, str] = {}
    paths = {storable(path): path for path in given}
    for source in catalog.sources:
        name = source.name
        its, unread = read_snapshots([name], environ)
        kinds[name] = its
        failures += unread
        if is_local_path(name):
            revisions, failure = of_revisions(paths.get(name, name), should_stop, on_progress)
            its.append(revisions)
            failures += [failure] if failure else []
        # What dated tags have is not all there now.
        if not (tags := of_tags(catalog, name)) and _is_read(source):
            now = _time_text(time.time())
            tags = [_observe(now, "now", of_source(catalog, name), ())]
        its.append(tags)
        for each in chain.from_iterable(its):
            for hash_, text in each.came.items():
                texts[hash_] = _better(texts.get(hash_, ""), text)
    wanted = {hash_: text for hash_, text in texts.items() if _fits(query, hash_, text)}
    unknown = sum(
        _fits(query, hash_, text, unknown=True)
        for hash_, text in texts.items()
        if hash_ not in wanted
    )
    if unknown:
        failures.append(f"left out: {counted(unknown, 'build')} whose variants are unknown")
    histories = {source: history_of(its, wanted, by, should_stop) for source, its in kinds.items()}
    return histories, failures


def _fits(query: Query, hash_: str, text: str, *, unknown: bool = False) -> bool:
    """Check a spec; conditions on variants that it does not tell have the answer `unknown`."""
    spec, *variants = text.split(_BETWEEN)
    package, _, version = spec.partition("@")
    named: dict[str, Value] = {"package": package, "version": version, "hash": hash_}
    values = {**named, "variants": tuple(variants)}

    def fits(condition: Condition) -> bool:
        if not isinstance(condition, Term) or (condition.column == "variants" and not variants):
            return unknown
        its = values[condition.column]
        return condition.fits(condition.column, its) is not condition.negated

    return all(any(map(fits, group)) for group in query.groups)

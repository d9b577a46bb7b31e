"""Keep snapshots of the specs of sources in the state directory, and read them again."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone

from spackscope.model.core.errors import Unreadable, Unwritable
from spackscope.model.core.file_access import read_private, write_private, xdg_path
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LookAlike, SourceStatus, Spec, is_hash
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.readers.json import storable, too_many_values
from spackscope.model.readers.unpack import decode, decompress

MAX_OBSERVATIONS = 500
"""Observations of a source that are kept and read: weeks of almost ten years."""

_MAX_SNAPSHOTS = 2**26
"""Bytes of the file with the snapshots of a source."""

ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The errors that a document of an unexpected form raises."""

BETWEEN = "\t"
"""The separator of the variants of a spec, whose values may have blanks."""

Specs = Mapping[str, str]
"""Specs by their hashes, each as `name@version` with its variants, if these are known."""


class Observation(Frozen):
    """The specs that came and went until a time: an ISO date, or with the time of day.

    Only changes since the previous observation of the same kind are kept: all specs of a source
    each time would fill the memory. `label` is a tag, a revision, or the word snapshot.
    """

    when: str
    label: str
    came: Specs
    went: Sequence[str]


def observe(when: str, label: str, specs: Specs, before: Collection[str]) -> Observation:
    """Return an observation: the new specs of a source, and the hashes that are gone."""
    came = {hash_: text for hash_, text in specs.items() if hash_ not in before}
    went = sorted(hash_ for hash_ in before if hash_ not in specs)
    return Observation(when, label, came, went)


def time_text(seconds: float) -> str:
    """Return a time in seconds since 1970 as the `when` of an observation, in UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%MZ")


def matching_specs(catalog: Catalog, query: Query) -> dict[str, str]:
    """Return the texts of the specs that match by their hashes; look-alikes share one."""
    ids = catalog.match(query).ids()
    numbers = [catalog.look_alike(id_) for id_ in ids]
    distinct = list(dict.fromkeys(numbers))
    specs = catalog.records([catalog.span(number)[0] for number in distinct])
    texts = dict(zip(distinct, map(spec_text, specs), strict=True))
    return dict(zip(catalog.hashes.of(ids), map(texts.__getitem__, numbers), strict=True))


def spec_text(spec: Spec | LookAlike) -> str:
    """Return a spec as observations record it: `name@version`, and variants."""
    return BETWEEN.join([f"{spec.package}@{spec.version}", *spec.variants])


def fuller_text(text: str, other: str) -> str:
    """Return the fuller of two texts of a spec: a hash always has the same variants.

    Older snapshots have `name@version` only.
    """
    return max(text, other, key=len)


def of_source(catalog: Catalog, source: str) -> Specs:
    """Return the listed specs of one of the sources."""
    return matching_specs(catalog, exact_query("source", source))


class Snapshots:
    """The snapshots of a source: one file in the state directory, of added and removed specs.

        Snapshots("spack:site", os.environ).add(of_source(catalog, "spack:site"))

    A file that cannot be read is a problem, and is never written over.
    """

    def __init__(self, source: str, environ: Mapping[str, str]) -> None:
        self.source = source
        # A path is another source in another directory.
        name = os.path.abspath(source) if os.path.exists(source) else source
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.path = xdg_path(environ, "state", "snapshots", f"{digest}.json.gz") or ""

    def add(self, specs: Specs, now: float, *, is_whole: bool = True) -> tuple[int, int]:
        """Add a snapshot, and return how many specs came and went since the last one.

        If no spec came or went, the last snapshot gets the new time. From a source that was not
        read whole no specs have gone. Raises Unreadable and Unwritable.
        """
        if not self.path:
            raise Unwritable("there is no home directory to keep a snapshot in")
        steps, old = list[Observation](), set[str]()
        for step in self.read():
            old.difference_update(step.went)
            old.update(step.came)
            told = {h: fuller_text(text, specs.get(h, "")) for h, text in step.came.items()}
            steps.append(replace(step, came=told))
        new = observe(time_text(now), "snapshot", specs, old)
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
        except (OSError, *ODD) as error:
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


def is_read(source: SourceStatus) -> bool:
    """Check whether a source could be read: specs in an unreadable one are not gone."""
    return not source.failure and (source.specs > 0 or not source.problems)


def add_snapshots(catalog: Catalog, environ: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    """Add a snapshot of each source; yield whether it was kept, and a sentence on it.

    No snapshot is kept of a source that could not be read.
    """
    for source in catalog.sources:
        name = clean(source.name)
        if not is_read(source):
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

"""Read a list of hashes, one per line, as `find --hashes` and `spack find --format` print them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, is_hash
from spackscope.model.readers.json import MAX_RECORDS, FieldReader, shown_value, storable

_DOCUMENT = re.compile(rb"\s*(?:\{|---|\x1f\x8b|\x28\xb5\x2f\xfd)")
"""How a lock file, an index, or a page begins, packed or not."""


def is_hash_list(data: bytes) -> bool:
    """Check whether some bytes may be a list of hashes rather than a document."""
    return _DOCUMENT.match(data) is None


def read_hash_list(data: bytes, *, origin: str) -> Iterator[str | Problem]:
    """Yield the hashes, each once, then a problem for each line without one.

    The hash is the first word of a line or the end of it, after a `/`. Empty lines and those
    that begin with `#` are skipped. Raises Unreadable where there are too many lines.

    >>> list(read_hash_list(b"zlib@1.3/2345672345672345672345672345672a", origin="-"))
    ['2345672345672345672345672345672a']
    """
    fields = FieldReader(origin)
    seen: set[str] = set()
    for number, line in enumerate(data.splitlines(), 1):
        if number > MAX_RECORDS:
            raise Unreadable(f"it has more than {MAX_RECORDS:,} lines")
        words = storable(line.decode("utf-8", "replace")).split()
        if not words or words[0].startswith("#"):
            continue
        hash_ = words[0].rpartition("/")[2]
        if not is_hash(hash_):
            fields.place = f"line {number:,}"
            fields.add_problem(f"{shown_value(words[0])} is not a full hash")
        elif hash_ not in seen:
            seen.add(hash_)
            yield hash_
    yield from fields.problems()

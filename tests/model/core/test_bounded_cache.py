"""A cache stays within its bound."""

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spackscope.model.core.tasks import MAX_BYTES, BoundedCache
from spackscope.model.index.value_counts import value_counts
from spackscope.model.query.parser import parse
from tests.builders.catalogs import catalog_of
from tests.builders.pages import record, write_page


def test_what_was_not_asked_for_longest_goes_first() -> None:
    cache: BoundedCache[str, bytes] = BoundedCache(len, limit=20_000)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda: bytes(8_000))
    # Each counts for 2,000 bytes more than its value.
    assert cache.size == cache.limit
    assert ("a" in cache, "b" in cache) == (True, False)
    assert cache.get("a", lambda: b"another") == bytes(8_000)
    assert "c" in cache
    # One beyond the limit is kept alone.
    assert cache.get("d", lambda: bytes(50_000)) == cache.get("d", lambda: b"") == bytes(50_000)
    assert [key in cache for key in "abcd"] == [False, False, False, True]


def test_nothing_is_kept_of_what_failed() -> None:
    cache: BoundedCache[int, bytes] = BoundedCache(len)
    with pytest.raises(ZeroDivisionError):
        cache.get(1, lambda: bytes(1 // 0))
    assert (1 in cache, cache.size) == (False, 0)
    assert cache.get(1, lambda: b"made") == b"made"


def test_several_threads_may_ask_at_once() -> None:
    cache: BoundedCache[int, bytes] = BoundedCache(len, limit=20_000)
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda n: cache.get(n % 7, lambda: bytes([n % 7]) * 3_000), range(2000))
        )
    assert answers == [bytes([n % 7]) * 3_000 for n in range(2000)]
    assert cache.size <= cache.limit


def test_a_catalog_keeps_answers_within_a_bound(tmp_path: Path) -> None:
    records = [
        record(n, versions=[f"1.{n}"], variants=[f"v={n * 7 % 1000}", "+x" if n % 2 else "~x"])
        for n in range(3000)
    ]
    write_page(tmp_path, records)
    # Kept: a new cache may have the id of one that has gone.
    before = caches()
    catalog = catalog_of(tmp_path)
    value_counts(catalog, parse("+x"), "version")
    own = [cache for cache in caches() if not any(cache is other for other in before)]
    for cache in own:
        assert cache.limit <= MAX_BYTES
        cache.limit = MAX_BYTES // 8
    for number in range(40):
        query = parse(f"!v={number} +x")
        expected = sum(n * 7 % 1000 != number and n % 2 for n in range(3000))
        assert len(catalog.match(query)) == expected
        assert sum(f.count for f in value_counts(catalog, query, "version")) == expected
        assert all(cache.size <= cache.limit for cache in own)
    assert max(cache.size for cache in own) > MAX_BYTES // 16, "some answers are kept"


def caches() -> list[BoundedCache[object, object]]:
    return [value for value in gc.get_objects() if isinstance(value, BoundedCache)]

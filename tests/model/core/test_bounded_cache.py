"""Answers are kept within a bound, whatever is asked."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spackscope.model.catalog.facets import facets
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.query.parser import parse
from tests.builders import catalog_of, record, write_page


def test_an_answer_is_made_once_while_it_is_kept() -> None:
    kept: BoundedCache[str, bytes] = BoundedCache(len)
    made = [kept.get(key, lambda key=key: key.encode()) for key in "abab"]  # type: ignore[misc]
    assert made == [b"a", b"b", b"a", b"b"]
    assert kept.get("a", lambda: b"another") == b"a"
    assert len(kept) == 2


def test_what_was_not_asked_for_longest_goes_first() -> None:
    kept: BoundedCache[str, bytes] = BoundedCache(len, limit=25_000)
    for key in ("a", "b", "a", "c"):
        kept.get(key, lambda: bytes(8_000))
    assert len(kept) == 2
    assert kept.size <= kept.limit
    assert kept.get("a", lambda: b"another") == bytes(8_000)
    assert kept.get("b", lambda: b"another") == b"another"


def test_an_answer_beyond_the_limit_is_kept_alone() -> None:
    kept: BoundedCache[int, bytes] = BoundedCache(len, limit=10_000)
    for key in range(3):
        kept.get(key, lambda: bytes(50_000))
    assert len(kept) == 1
    assert kept.get(2, lambda: b"another") == bytes(50_000)


def test_nothing_is_kept_of_what_failed() -> None:
    kept: BoundedCache[int, bytes] = BoundedCache(len)
    with pytest.raises(ZeroDivisionError):
        kept.get(1, lambda: bytes(1 // 0))
    assert (len(kept), kept.size) == (0, 0)
    assert kept.get(1, lambda: b"made") == b"made"


def test_several_threads_may_ask_at_once() -> None:
    kept: BoundedCache[int, bytes] = BoundedCache(len, limit=20_000)
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda n: kept.get(n % 7, lambda: bytes([n % 7]) * 3_000), range(2000))
        )
    assert answers == [bytes([n % 7]) * 3_000 for n in range(2000)]
    assert kept.size <= kept.limit


def test_a_catalog_keeps_answers_within_a_bound(tmp_path: Path) -> None:
    records = [
        record(n, versions=[f"1.{n}"], variants=[f"v={n * 7 % 1000}", "+x" if n % 2 else "~x"])
        for n in range(3000)
    ]
    write_page(tmp_path, records)
    others = set(map(id, caches()))
    catalog = catalog_of(tmp_path)
    facets(catalog, parse("+x"), "version")
    own = [cache for cache in caches() if id(cache) not in others]
    for number in range(300):
        query = parse(f"!v={number} +x")
        expected = sum(n * 7 % 1000 != number and n % 2 for n in range(3000))
        assert len(catalog.match(query)) == expected
        assert sum(f.count for f in facets(catalog, query, "version")) == expected
        assert all(0 < cache.size <= cache.limit for cache in own if len(cache))
    fullest = max(own, key=lambda cache: cache.size)
    assert fullest.size > fullest.limit / 2
    assert len(fullest) < 300, "some answers were dropped"


def caches() -> list[BoundedCache[object, object]]:
    return [value for value in gc.get_objects() if isinstance(value, BoundedCache)]

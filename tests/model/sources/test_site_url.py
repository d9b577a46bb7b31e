"""Addresses of cache.spack.io are read as a source and a query, and written from a query."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from spackscope.model.core.errors import QueryError, SourceError
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import query_of
from spackscope.model.query.parser import parse
from spackscope.model.sources.resolve import resolve_sources
from spackscope.model.sources.session import Session
from spackscope.model.sources.site_url import SiteUrl, SiteView, parse_site_url, site_url
from tests.builders.catalogs import all_records, catalog_of
from tests.builders.pages import record, write_page

TOP = "https://cache.spack.io/"
HASH = "abcdefgh" * 4
CONDITIONS = [
    ("hash", HASH),
    ("hash", "cdef"),
    ("version", "1.14.6"),
    ("version", "1.14"),
    ("variant", "+mpi"),
    ("variant", "~cuda"),
    ("variant", "cuda_arch=80"),
    ("variant", "cuda_arch=90"),
    ("variant", "note=a+b c"),
    ("platform", "linux"),
    ("os", "ubuntu22.04"),
    ("os", "ubuntu"),
    ("target", "x86_64"),
    ("stack", "e4s"),
    ("stack", "ml-linux"),
]


def addresses() -> Iterator[list[tuple[str, str]]]:
    """Yield the parameters of addresses: none, each alone, and each two together."""
    for conditions in (*combinations(CONDITIONS, 1), *combinations(CONDITIONS, 2)):
        yield [("package", "hdf5"), *conditions]
    yield [("package", "hdf5")]
    yield [("package", "hdf5"), *CONDITIONS]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Return the index of a tag."""
    folder = tmp_path_factory.mktemp("pages")
    fields: list[dict[str, Any]] = [
        {"hash": HASH, "target": "x86_64", "versions": ["1.14.6"]},
        {"target": "x86_64_v3", "versions": ["1.14.6"], "os": "ubuntu22.04"},
        {"target": "aarch64", "versions": ["11.14"], "stacks": ["e4s", "ml-linux"]},
        {"variants": ["+mpi", "~cuda", "cuda_arch=80,90"], "os": "ubuntu22.04"},
        {"variants": ["~mpi", "note=a+b c", "cuda_arch=90"], "versions": ["2.1"]},
        {"variants": ["+mpi", "~cuda", "cuda_arch=80"], "os": "rhel9", "stacks": ["root"]},
    ]
    page = [record(number, **each) for number, each in enumerate(fields)]
    write_page(folder, page, title="hdf5", tag="v1")
    write_page(folder, [record(9)], title="hdf5-vol", tag="v1")
    return catalog_of(folder)


def is_shown(spec: Spec, parameters: list[tuple[str, str]]) -> bool:
    """Check whether the site shows a build: `updateTable` over what `data.py` writes of it."""
    variants = []
    for variant in spec.variants:
        name, equals, listed = variant.partition("=")
        variants += [f"{name}={value}" for value in listed.split(",")] if equals else [variant]
    values: dict[str, Any] = {
        **{key: getattr(spec, key) for key in ("hash", "version", "platform", "os", "target")},
        "variant": variants,
        "stack": spec.stacks,
        "release": [spec.tag],
    }
    return all(
        spec.package == value if key == "package" else value in values[key]
        for key, value in parameters
    )


def shown(catalog: Catalog, query: str) -> set[str]:
    """Return the hashes that match a query."""
    return {*catalog.hashes.of(catalog.match(parse(query)))}


def url_of(catalog: Catalog, text: str) -> SiteUrl | None:
    """Return the address of a query, as the browser copies it."""
    query = parse(text)
    tags = catalog.counts(query_of(query.package_term), "tag") if query.package_term else ()
    return site_url(query, tags)


@pytest.mark.parametrize("parameters", [*addresses()], ids=urlencode)
def test_an_address_means_what_the_site_shows_and_is_written_again(
    catalog: Catalog, parameters: list[tuple[str, str]]
) -> None:
    # As `syncRoute` writes them.
    view = parse_site_url(f"{TOP}?{urlencode([*parameters, ('release', 'v1')])}")
    assert view is not None
    assert (view.source, view.notes) == ("public:v1", ())
    assert shown(catalog, view.query) == {
        spec.hash for spec in all_records(catalog) if is_shown(spec, parameters)
    }
    url = url_of(catalog, view.query)
    assert url is not None
    assert {*parse_qsl(url.text.partition("?")[2])} == {*parameters, ("release", "v1")}
    assert not url.remark


@pytest.mark.parametrize(
    ("query", "text", "remark"),
    [
        ("hdf5@1.14.6 +mpi", "version=1.14.6&variant=%2Bmpi", ""),
        ("hdf5@1.14 target=x86_64", "version=1.14&target=x86_64", ""),
        ("hdf5 os=ubuntu22.04", "os=ubuntu22.04", ""),
        ("hdf5 cuda_arch:=80", "variant=cuda_arch%3D80", ""),
        ("hdf5@1.2: !+mpi os=a | os=b", "", "without @1.2:, !+mpi, os=a | os=b"),
        ("hdf5 %gcc target=:host os=host", "", "without target=:host, os=host, %gcc"),
        ("hdf5 cuda_arch=* stack=ml-* ^zlib", "", "without cuda_arch=*, stack=ml-*, ^zlib"),
    ],
)  # fmt: skip
def test_what_the_site_cannot_say_is_named(
    catalog: Catalog, query: str, text: str, remark: str
) -> None:
    url = url_of(catalog, query)
    assert url is not None
    assert url.text == f"{TOP}?package=hdf5{text and '&'}{text}&release=v1"
    assert url.remark == remark


def test_only_queries_of_one_package_of_the_public_cache_have_an_address(
    catalog: Catalog, tmp_path: Path
) -> None:
    for query in ("", "+mpi", "hdf5 zlib", "hdf*", "!hdf5", "zlib"):
        assert url_of(catalog, query) is None
    assert url_of(catalog_of(write_page(tmp_path, [record()], tag="")), "zlib") is None
    for tag in ("a", "b"):
        write_page(tmp_path / "two", [record()], tag=tag)
    url = url_of(catalog_of(tmp_path / "two"), "zlib")
    assert url is not None
    assert (url.text, url.remark) == (f"{TOP}?package=zlib", "without tag=a | tag=b")


@pytest.mark.parametrize(
    ("address", "view"),
    [
        ("https://cache.spack.io", SiteView("public")),
        ("http://CACHE.spack.io:80/index.html?#top", SiteView("public")),
        ("https://cache.spack.io?package=hdf5", SiteView("public", "hdf5")),
        (f"{TOP}?package=hdf5&variant=+mpi", SiteView("public", "hdf5 +mpi")),
        (f"{TOP}?package=hdf5&package=zlib", SiteView("public", "hdf5")),
        (f"{TOP}?package=hdf5&tag=v1", SiteView("public:v1", "hdf5")),
        (f"{TOP}?package=hdf5&hash={HASH}", SiteView(f"public:/{HASH}", f"hdf5 /{HASH}")),
        (f"{TOP}?package=hdf5&hash=abc", SiteView("public", "hdf5 hash=*abc*")),
        (f"{TOP}tag/develop/?stack=e4s", SiteView("public:develop", "stack=e4s")),
        (f"{TOP}package/develop/py-build/specs/", SiteView("public:develop", "py-build")),
        (f"{TOP}package/adiak/index/", SiteView("public", "adiak")),
        (f"{TOP}api/specs_data.json.gz", None),
        ("https://cache.spack.io.example.org/?package=hdf5", None),
        ("hdf5", None),
    ],
)
def test_older_and_other_addresses_are_known(address: str, view: SiteView | None) -> None:
    assert parse_site_url(address) == view


def test_what_an_address_has_beside_is_named() -> None:
    view = parse_site_url(f"{TOP}?package=hdf5&%1b[31mcompiler=gcc&os=&release=a&release=b")
    assert view is not None
    assert (view.source, view.query) == ("public:a,b", "hdf5")
    ignored, releases = view.notes
    assert ignored.endswith("compiler=")
    assert ignored.isprintable()
    assert "in all of these releases" in releases


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("package=hdf5+%2Bmpi", "package='hdf5 +mpi'"),
        ("package=%5Bred%5D%24%28rm%29", "package='[red]$(rm)'"),
        ("package=*", "?"),
        ("package=a&version=1%3A2%7C%21", "a @*1?2??*"),
        ("package=a&hash=%2F..%2F..", "a hash=*??????*"),
        ("package=a&variant=x%3D%3D*&stack=a'b\"", 'a variants=x??? stack="a\'b\\""'),
        ("package=a&variant=view%3Dmine&variant=os%3Dx", "a view=mine variants=os=x"),
        ("package=%ff", "package='�'"),
    ],
)
def test_values_are_data(value: str, query: str) -> None:
    view = parse_site_url(f"{TOP}?{value}")
    assert view is not None
    assert view.query.replace(" @", "@") == query.replace(" @", "@")
    assert len(parse(view.query).groups) == value.count("&") + 1
    assert [note.partition(":")[0] for note in view.notes] == [
        "The query may match more" for _ in range("*" in query)
    ]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("package=%1b%5B31m", "package= of the address has a character"),
        ("package=a&stack=x%0Ay", "stack= of the address has a character"),
        ("package=a&release=v1,develop", "release=v1,develop is not a tag"),
        ("package=a&release=https://example.org", "is not a tag"),
        ("package=a&variant=%2Bx&variant=~x", "x is given twice"),
        ("package=" + "a" * 20_000, "longer than 16,384 characters"),
    ],
)
def test_values_that_cannot_be_used_are_refused_by_name(value: str, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        parse_site_url(f"{TOP}?{value}")


def test_a_configured_address_is_a_source_if_it_has_no_query() -> None:
    session = Session({"SPACKSCOPE_FROM": f"{TOP}?release=v1"})
    assert resolve_sources([], session) == ("public:v1",)
    with pytest.raises(SourceError, match="has a query: write public as the source"):
        resolve_sources([], Session({}), [f"{TOP}?package=a"])

"""Values are counted under the other conditions, shown in sections, and chosen."""

from pathlib import Path

import pytest

from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.records import Spec, split_variant
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.value_counts import (
    MAX_VARIANTS,
    SectionKey,
    SectionValue,
    ValueSection,
    Verb,
    choose,
    value_counts,
    value_sections,
    variant_texts,
)
from spackscope.model.query.ast import Query, exact_term
from spackscope.model.query.parser import parse
from tests.builders.catalogs import all_records, catalog_of, on_host
from tests.builders.pages import record, write_page
from tests.evaluator import satisfies

QUERIES = [
    "", "os=linux", "zlib", "+shared", "zlib +shared os=linux", "libs=shared %gcc", "/2",
    "os=linux | os=centos7", "!+mpi stack=e4s", "zlib@1.9: HDF5", "!os=linux",
    "~shared | os=linux",
]  # fmt: skip


@pytest.mark.parametrize("text", QUERIES)
def test_a_variant_is_counted_without_what_is_asked_of_itself(mixed: Catalog, text: str) -> None:
    query, specs = parse(text), all_records(mixed)
    counted = {each.value: each.count for each in value_counts(mixed, query, "variants")}
    switches = {v for spec in specs for v in spec.variants if v[0] in "+~"}
    for value in {*counted, *switches}:
        others = SectionKey("variants", split_variant(value)[0]).without(query)
        with_value = others.also(exact_term("variants", value))
        assert counted.get(value, 0) == sum(satisfies(s, with_value) for s in specs), value


def sections_of(
    catalog: Catalog, text: str, wanted: SectionKey | None = None
) -> dict[str, ValueSection]:
    """Return the sections by their labels, in their order."""
    found = value_sections(catalog, parse(text), wanted=wanted)
    return {section.key.label: section for section in found}


def marks(section: ValueSection) -> dict[str, bool]:
    """Return the marks by the texts that have one."""
    return {each.text: each.mark for each in section.values if each.mark is not None}


def counts(section: ValueSection) -> dict[str, int]:
    return {each.text: each.count for each in section.values}


@pytest.mark.parametrize("text", QUERIES)
def test_each_value_is_counted_under_all_filters_but_those_on_its_section(
    mixed: Catalog, text: str
) -> None:
    query, specs = parse(text), all_records(mixed)
    found = list(value_sections(mixed, query))
    columns = {section.key.column for section in found}
    assert {"compiler", "variants"} <= columns
    # Versions of several packages are not comparable, unless they are filtered.
    is_comparable = query.package_term is not None or bool(query.of_column("version"))
    assert ("version" in columns, "package" in columns) == (
        is_comparable,
        query.package_term is None and bool(query.of_column("package")),
    )
    for section in found:
        rest = section.key.without(query)
        for value in section.values:
            count = sum(satisfies(s, rest) and _has(s, section.key, value) for s in specs)
            assert value.count == count, value


def _has(spec: Spec, key: SectionKey, value: SectionValue) -> bool:
    if value.condition is not None:
        return key.fits(value.condition, str(BY_NAME[key.column].value(spec)))
    if key.variant:
        return satisfies(spec, Query().also(key.term(value.value)))
    values = BY_NAME[key.column].value(spec)
    texts = values if isinstance(values, tuple) else (str(values),)
    return value.value in (texts or ("",))


def with_variants(directory: Path, *variants: list[str]) -> Catalog:
    """Index a package with some variants for each spec, on two systems by turns."""
    records = [
        record(n, os=f"os{n % 2}", target="zen4", variants=each, stacks=["e4s"])
        for n, each in enumerate(variants)
    ]
    return catalog_of(write_page(directory, records, title="p"))


def test_a_section_has_several_values_or_a_filter(tmp_path: Path) -> None:
    catalog = with_variants(
        tmp_path, *(["+one", f"two={n % 2}", *["+a"][: n % 3]] for n in range(6))
    )
    assert list(sections_of(catalog, "p")) == ["os", "two", "a"]
    assert list(sections_of(catalog, "p os=os1")) == ["os", "a"]
    assert list(sections_of(catalog, "p target=zen4 +one")) == ["os", "target", "two", "a", "one"]
    assert "target" in sections_of(catalog, "p", wanted=SectionKey("target"))
    assert "one" in sections_of(catalog, "p", wanted=SectionKey("variants", "one"))
    assert "package" in sections_of(catalog, "p", wanted=SectionKey("package"))


def test_the_newest_version_of_a_package_is_first_else_what_is_most_frequent(
    mixed: Catalog,
) -> None:
    versions = list(counts(sections_of(mixed, "zlib")["version"]))
    assert versions.index("develop") < versions.index("1.10") < versions.index("1.9")
    for name in ("compiler", "os"):
        by_value = counts(sections_of(mixed, "")[name])
        numbers = [n for text, n in by_value.items() if text not in ("no compiler", "unknown")]
        assert numbers == sorted(numbers, reverse=True)
    assert [*counts(sections_of(mixed, "")["compiler"])][-1] == "no compiler"


def test_what_has_no_value_is_the_last_of_a_package(tmp_path: Path) -> None:
    catalog = with_variants(tmp_path, *(["+x"] * (n < 2) for n in range(9)))
    assert counts(sections_of(catalog, "p")["x"]) == {"+x": 2, "no such variant": 7}
    assert "x" not in sections_of(catalog, "")


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("os=linux", "os", {"linux": True}),
        ("os=linux | os=centos7", "os", {"linux": True, "centos7": True}),
        ("!os=linux", "os", {"linux": False}),
        ("os=linux !os=centos7", "os", {"linux": True, "centos7": False}),
        ("os=*n*u*", "os", {"*n*u*": True, "linux": True, "ubuntu24.04": True}),
        ("zlib@1.10:", "version", {"1.10:": True, "1.10": True, "develop": True}),
        ("zlib@1.10", "version", {"1.10": True}),
        ("%gcc@10:", "compiler", {"gcc@13.2.0": True}),
        ("+shared", "shared", {"+shared": True}),
        ("!~shared", "shared", {"~shared": False}),
        ("libs=shared", "libs", {"shared": True}),
        ("os=nothing", "os", {"nothing": True}),
        ("stack=e4s stack=hep", "stacks", {"e4s": True, "hep": True}),
        (
            "zlib !shared=*",
            "shared",
            {"no such variant": True, "+shared": False, "~shared": False},
        ),
    ],
)
def test_the_filters_of_the_query_are_marks(
    mixed: Catalog, text: str, label: str, expected: dict[str, bool]
) -> None:
    found = marks(sections_of(mixed, text)[label])
    assert {text: found.get(text) for text in expected} == expected
    assert sum(found.values()) == sum(expected.values()) or ":" in text


@pytest.fixture(scope="module")
def with_host(mixed: Catalog) -> Catalog:
    return on_host(mixed, "target=x86_64_v3 glibc=2.28 os=rocky8")


def test_what_the_host_can_run_is_offered_among_the_targets_if_it_is_more_than_one(
    with_host: Catalog, mixed: Catalog, tmp_path: Path
) -> None:
    assert list(counts(sections_of(with_host, "")["target"])) == ["aarch64", "x86_64_v3"]
    targets = ["x86_64", "x86_64_v3", "aarch64"]
    write_page(tmp_path, [record(n, target=target) for n, target in enumerate(targets)])
    several = on_host(catalog_of(tmp_path), "target=x86_64_v3")
    assert counts(sections_of(several, "")["target"])[":x86_64_v3"] == 2
    chosen = sections_of(with_host, "target=:x86_64_v3")["target"]
    assert marks(chosen) == {"x86_64_v3": True}
    assert "runs here" in sections_of(with_host, "", wanted=SectionKey("fits"))
    assert "runs here" not in sections_of(mixed, "", wanted=SectionKey("fits"))


def test_variants_are_bounded_but_for_those_of_the_query(tmp_path: Path) -> None:
    names = [f"v{number:03}" for number in range(MAX_VARIANTS + 20)]
    catalog = with_variants(tmp_path, *([sign + name for name in names] for sign in "+~"))
    assert len(sections_of(catalog, "p")) == MAX_VARIANTS + 1
    found = sections_of(catalog, f"p +{names[-1]}", wanted=SectionKey("variants", names[-2]))
    assert list(found)[-2:] == names[-2:]


def test_a_variant_with_several_values_has_each_of_them() -> None:
    texts = {
        "k=80,90": ("k=80", "k=90"),
        "k:=80": ("k=80",),
        "+k": ("+k",),
        'k="a,b"': ("k='a,b'",),
    }
    assert {variant: variant_texts(variant) for variant in texts} == {
        variant: ("k", values) for variant, values in texts.items()
    }


def test_variants_keep_their_order_while_values_are_chosen(mixed: Catalog) -> None:
    for package in ("", "zlib"):
        names = list(sections_of(mixed, package))
        for more in ("+shared", "!libs=shared", "os=linux"):
            kept = [name for name in sections_of(mixed, f"{package} {more}") if name in names]
            assert kept == [name for name in names if name in kept]


def test_variants_that_split_a_package_most_evenly_are_first(tmp_path: Path) -> None:
    variants = [["langs=c,cxx", *[f"a={n}"][: n < 3], "+~"[n % 2] + "b"] for n in range(20)]
    found = list(sections_of(with_variants(tmp_path, *variants), "p"))
    assert found[:3] == ["os", "b", "a"]
    assert "langs" not in found, "all have the same values"


def chosen(catalog: Catalog, verb: Verb, before: str, name: str, text: str) -> Query:
    """Choose a value that is shown with a text below the name of a column or variant."""
    query = parse(before)
    key = SectionKey("variants", name) if name in ("shared", "libs") else SectionKey(name)
    sections = value_sections(catalog, query, wanted=key)
    section = next(section for section in sections if section.key == key)
    value = next((value for value in section.values if value.text == text), None)
    assert (value is None) == (verb == "clear")
    return choose(query, section, value, verb)


@pytest.mark.parametrize(
    ("verb", "before", "name", "text", "after"),
    [
        # The first value, another one, and no more.
        ("include", "", "os", "linux", "os=linux"),
        ("include", "os=linux", "os", "centos7", "os=linux | os=centos7"),
        ("include", "os=linux | os=centos7", "os", "linux", "os=centos7"),
        ("include", "os=linux", "os", "linux", ""),
        ("include", "+mpi os=linux", "os", "linux", "+mpi"),
        # What was typed counts like what was chosen.
        ("include", "zlib@1.10", "version", "1.10", "zlib"),
        ("include", "zlib@1.10", "version", "develop", "zlib @1.10 | @=develop"),
        ("include", "+shared", "shared", "+shared", ""),
        ("include", "+shared", "shared", "~shared", "+shared | ~shared"),
        # A value of a range takes its place; one outside is added.
        ("include", "os=*u*", "os", "linux", "os=linux"),
        ("include", "os=*u*", "os", "*u*", ""),
        ("include", "os=*u*", "os", "centos7", "os=*u* | os=centos7"),
        # From excluded to included, and back.
        ("include", "!os=linux", "os", "linux", "os=linux"),
        ("include", "!os=linux", "os", "centos7", "os=centos7 !os=linux"),
        ("exclude", "", "os", "linux", "!os=linux"),
        ("exclude", "!os=linux", "os", "linux", ""),
        ("exclude", "os=linux", "os", "linux", "!os=linux"),
        ("exclude", "os=linux", "os", "centos7", "os=linux !os=centos7"),
        ("exclude", "!os=linux", "os", "centos7", "!os=linux !os=centos7"),
        ("exclude", "os=*u*", "os", "linux", "os=*u* !os=linux"),
        ("exclude", "os=*u*", "os", "*u*", "!os=*u*"),
        ("exclude", "+shared", "shared", "~shared", "+shared !~shared"),
        # Records without a value.
        ("include", "zlib", "shared", "no such variant", "zlib !shared=*"),
        ("include", "zlib !shared=*", "shared", "no such variant", "zlib"),
        ("exclude", "zlib", "shared", "no such variant", "zlib shared=*"),
        ("exclude", "zlib shared=*", "shared", "no such variant", "zlib"),
        ("include", "zlib shared=*", "shared", "+shared", "zlib +shared"),
        ("exclude", "zlib +shared", "shared", "no such variant", "zlib +shared"),
        # Only this.
        ("only", "os=linux !os=centos7 +mpi", "os", "centos7", "os=centos7 +mpi"),
        ("only", "+shared libs=shared", "shared", "~shared", "~shared libs=shared"),
        ("only", "!os=*u*", "os", "*u*", "os=*u*"),
        # Others are left alone.
        ("include", "os=linux | +mpi", "os", "linux", "os=linux | +mpi os=linux"),
        ("include", "!+mpi", "shared", "+shared", "!+mpi +shared"),
        ("clear", "zlib os=linux !os=centos7 +shared", "os", "", "zlib +shared"),
        ("clear", "zlib os=linux +shared !~shared libs=shared", "shared", "",
         "zlib os=linux libs=shared"),
        ("clear", "zlib os=linux", "target", "", "zlib os=linux"),
    ],
)  # fmt: skip
def test_a_choice_is_written_into_the_query(
    mixed: Catalog, verb: Verb, before: str, name: str, text: str, after: str
) -> None:
    assert chosen(mixed, verb, before, name, text) == parse(after)


@pytest.mark.parametrize("text", [text for text in QUERIES if "hdf5" not in text])
def test_each_value_can_be_chosen_alone_and_excluded(mixed: Catalog, text: str) -> None:
    query = parse(text)
    for section in value_sections(mixed, query):
        rest = section.key.without(query)
        for value in section.values:
            only = choose(query, section, value, "only")
            # A compiler without a hash fits those with one too.
            alike = [v for v in section.values if v.value.startswith(value.value or "?")]
            most = max(value.count, sum(v.count for v in alike))
            assert value.count <= mixed.count(only) <= most, value
            assert parse(str(only), packages=()) == only
            assert choose(rest, section, value, "include") == only or value.condition is not None
            excluded = choose(rest, section, value, "exclude")
            assert mixed.count(excluded) == mixed.count(rest) - mixed.count(only)
            verbs: tuple[Verb, ...] = ("include", "exclude")
            for verb in verbs if len(alike) < 2 and value.value != "linux" else ():
                assert choose(choose(rest, section, value, verb), section, value, verb) == rest

"""A spec string is spelled as by Spack, and finds its spec again."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Compiler, Spec
from spackscope.model.core.text import is_clean
from spackscope.model.presentation.paste import install_command, spec_string
from spackscope.model.query.lexer import DEPENDENCY, HASH, NAME, PAIR, SPACE, VARIANT, tokens
from spackscope.model.query.lexer import VERSION as VERSION_TOKEN
from spackscope.model.query.parser import MAX_QUERY_LENGTH, parse
from spackscope.model.sources.source_name import SAMPLE
from tests.builders import (
    FLAGS,
    GCC,
    INDEX_OF_1_2,
    PAGES,
    SPACK_DATA,
    ZLIB,
    catalog_of,
    database,
    edge,
    hash_of,
    in_format,
    installs,
    leaf,
    node,
    record,
    write_page,
    zlib_nodes,
)
from tests.hostile import HOSTILE_TEXT

SPEC = Spec(
    package="hdf5",
    hash="23r4fq5ly72u3bfmbi3o3unokk4d5ipr",
    version="1.14.5",
    compiler="gcc@13.2.0",
    platform="linux",
    os="ubuntu24.04",
    target="x86_64_v3",
    variants=("api=default", "build_type=Release", "~cxx", "+mpi", "libs:=shared,static"),
    stacks=(),
    size=None,
    tag="develop",
    origin="mirror/specs.md",
    namespace="builtin",
)
SHORT = replace(SPEC, compiler="none", platform="", os="", target="", variants=())
GCC_13 = Compiler("gcc", "13.2.0", ("c", "cxx"))


def catalog_of_nodes(directory: Path, *nodes: dict[str, Any], version: str = "8") -> Catalog:
    path = directory / "index.json"
    path.write_bytes(database(installs(*nodes), version))
    return catalog_of(path, dependency_only=True)


def spelled(catalog: Catalog) -> Iterator[tuple[str, Spec]]:
    for row in catalog.rows(range(catalog.total)):
        spec = catalog.with_compilers(row)
        yield spec_string(spec), spec


def string_of(catalog: Catalog, hash_: str = ZLIB) -> str:
    (row,) = catalog.by_hash(hash_)
    return spec_string(catalog.with_compilers(row))


def assert_each_is_found(catalog: Catalog) -> None:
    by_string = defaultdict(set)
    for id_, (text, _) in enumerate(spelled(catalog)):
        by_string[text].add(id_)
    assert by_string
    for text, ids in by_string.items():
        assert ids <= set(catalog.match(parse(text))), text


# What is written


def test_a_spec_is_spelled_as_spack_1_prints_it() -> None:
    spec = replace(SPEC, flags=("cflags=-O2 -g", "ldflags=-static"), compilers=(GCC_13,))

    assert spec_string(spec) == (
        "hdf5@1.14.5 cflags='-O2 -g' ldflags=-static ~cxx+mpi api=default build_type=Release"
        " libs:=shared,static platform=linux os=ubuntu24.04 target=x86_64_v3"
        " %c,cxx=gcc@13.2.0"
    )


def test_without_flags_the_variants_follow_the_version() -> None:
    assert spec_string(SPEC) == (
        "hdf5@1.14.5~cxx+mpi api=default build_type=Release libs:=shared,static"
        " platform=linux os=ubuntu24.04 target=x86_64_v3 %gcc@13.2.0"
    )


def test_what_a_record_lacks_is_left_out() -> None:
    assert spec_string(SHORT) == "hdf5@1.14.5"
    assert spec_string(replace(SHORT, version="", compiler="gcc")) == "hdf5 %gcc"
    assert spec_string(replace(SHORT, compilers=(Compiler("gcc"),))) == "hdf5@1.14.5 %gcc"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("git.feature/foo=1.2", "hdf5@git.feature/foo=1.2"),
        ("a" * 40 + "=1.2", "hdf5@" + "a" * 40 + "=1.2"),
        ("2025-08-12", "hdf5@2025-08-12"),
        ("a" * 40, "hdf5"),
        ("git.main", "hdf5"),
        ("1.2:", "hdf5"),
        ("1.2-", "hdf5"),
        ("%s it's", "hdf5"),
    ],
)
def test_a_version_is_written_if_spack_parses_it(version: str, expected: str) -> None:
    assert spec_string(replace(SHORT, version=version)) == expected


def test_a_namespace_is_named_unless_it_is_spacks_own() -> None:
    assert spec_string(replace(SHORT, namespace="ncar.hpcd")) == (
        "hdf5@1.14.5 namespace=ncar.hpcd"
    )
    assert spec_string(replace(SHORT, namespace="")) == "hdf5@1.14.5"


def test_each_compiler_is_written_with_its_languages() -> None:
    compilers = (
        Compiler("gcc", "13.2.0", ("fortran",)),
        Compiler("intel-oneapi-compilers", "2024.2.1", ("sycl",)),
        Compiler("llvm", "18.1.3", ("c", "cxx")),
    )

    assert spec_string(replace(SHORT, compilers=compilers)) == (
        "hdf5@1.14.5 %fortran=gcc@13.2.0 %sycl=oneapi@2024.2.1 %c,cxx=clang@18.1.3"
    )


@pytest.mark.parametrize(
    ("compiler", "spelled"),
    [
        ("gcc@13.2.0/5o2zn6v", "%gcc@13.2.0"),
        ("oneapi@2024.2.1", "%@2024.2.1"),
        ("intel", ""),
        ("none", ""),
        ("cxx@1.2", ""),
    ],
)
def test_a_compiler_that_is_only_stated_has_no_languages(compiler: str, spelled: str) -> None:
    spec = replace(SHORT, compiler=compiler)

    assert spec_string(spec) == f"hdf5@1.14.5 {spelled}".strip()
    assert spec_string(replace(spec, compilers=())) == spec_string(spec)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("languages:='c,c++'", "languages:='c,c++'"),
        ("note=it's", 'note="it\'s"'),
        ('note="it\'s"', 'note="it\'s"'),
        ("libs=shared,static", "libs=shared,static"),
        ("dev_path=/tmp/a b", "dev_path='/tmp/a b'"),
        ("dev_path=/tmp/[a]", "dev_path='/tmp/[a]'"),
        ("patches=0f6940d,3e6448a", "patches=0f6940d,3e6448a"),
        ("patches:=" + "0f6940dd" * 8 + "," + "b231fccd" * 8, "patches=0f6940d,b231fcc"),
    ],
)
def test_a_value_is_quoted_where_spack_quotes_it(variant: str, expected: str) -> None:
    assert spec_string(replace(SHORT, variants=(variant,))) == f"hdf5@1.14.5 {expected}"


@pytest.mark.parametrize(
    "variant",
    [
        "plain",
        "empty=",
        "a b=c",
        "=v",
        "+",
        "k=back\\slash",
        "k='$(id)",
        'k="a,b"',
        "k='say \"it\"'",
        "k=\x1b[31m",
        "os=linux",
    ],
)
def test_what_spack_cannot_read_is_left_out(variant: str) -> None:
    assert spec_string(replace(SHORT, variants=(variant,))) == "hdf5@1.14.5"


def test_of_a_variant_with_two_values_one_is_written() -> None:
    spec = replace(SHORT, variants=("+mpi", "~mpi", "k=1", "+k", "k=2"))

    assert spec_string(spec) == "hdf5@1.14.5+mpi k=1"


@pytest.mark.parametrize("name", ["", "a b", "; rm -rf ~", "[red", "it's", "ä"])
def test_the_hash_replaces_a_name_that_no_package_can_have(name: str) -> None:
    assert spec_string(replace(SHORT, package=name)) == f"/{SPEC.hash}@1.14.5"


def test_what_is_too_long_for_a_query_is_named_by_its_hash() -> None:
    spec = replace(SHORT, variants=("k=" + "v" * MAX_QUERY_LENGTH,))

    assert spec_string(spec) == f"/{SPEC.hash}"


# What is found


@pytest.mark.parametrize(
    "source",
    [
        SAMPLE,
        PAGES,
        SPACK_DATA / "spack0.index.json.gz",
        SPACK_DATA / "spack1.index.json.gz",
        SPACK_DATA / "mirror-v2",
        SPACK_DATA / "mirror-v3",
        SPACK_DATA / "install-tree-1.2",
    ],
    ids=lambda source: Path(source).name,
)
def test_every_spec_string_finds_its_spec(source: Path | str) -> None:
    assert_each_is_found(catalog_of(source, dependency_only=True))


def test_every_spec_string_of_mixed_pages_finds_its_spec(mixed: Catalog) -> None:
    assert_each_is_found(mixed)


def test_every_spec_string_of_old_pages_finds_its_spec(tmp_path: Path) -> None:
    for line in (SPACK_DATA / "pages.jsonl").read_text().splitlines():
        page = json.loads(line)
        write_page(tmp_path, page["records"], title=page["name"])

    assert_each_is_found(catalog_of(tmp_path, dependency_only=True))


@pytest.mark.parametrize("name", ["spack1.index.json.gz", "mirror-v3", "mirror-v2"])
def test_specs_with_one_string_are_alike_in_all_that_it_can_say(name: str) -> None:
    by_string = defaultdict(set)
    for text, spec in spelled(catalog_of(SPACK_DATA / name, dependency_only=True)):
        said = spec.package, spec.version, spec.flags, spec.namespace, spec.compilers
        by_string[text].add((*said, spec.platform, spec.os, spec.target, spec.variants))

    assert [text for text, said in by_string.items() if len(said) > 1] == []


def test_flags_compilers_and_namespaces_tell_specs_apart(tmp_path: Path) -> None:
    clang, other = hash_of(50), hash_of(60)
    parameters = {"shared": True, **FLAGS}
    two = [edge("gcc", GCC, ["build"], ["fortran"]), edge("llvm", clang, ["build"], ["c"])]
    catalog = catalog_of_nodes(
        tmp_path,
        *zlib_nodes(parameters=parameters),
        leaf(clang, "llvm", "18.1.3"),
        node(hash_of(61), parameters=parameters | {"cflags": ["-O2", "-g"]}),
        node(hash_of(62), parameters=parameters, namespace="mine"),
        node(other, parameters=parameters, dependencies=two),
    )

    at = "platform=linux os=ubuntu24.04 target=x86_64_v3"
    assert string_of(catalog) == f"zlib@1.3.1+shared {at} %c,cxx=gcc@13.2.0"
    assert string_of(catalog, hash_of(61)) == (
        f"zlib@1.3.1 cflags='-O2 -g' +shared {at} %c,cxx=gcc@13.2.0"
    )
    assert string_of(catalog, hash_of(62)) == (
        f"zlib@1.3.1+shared namespace=mine {at} %c,cxx=gcc@13.2.0"
    )
    assert string_of(catalog, other) == (
        f"zlib@1.3.1+shared {at} %fortran=gcc@13.2.0 %c=clang@18.1.3"
    )
    assert_each_is_found(catalog)


def test_a_compiler_that_is_absent_has_no_version(tmp_path: Path) -> None:
    catalog = catalog_of_nodes(tmp_path, node())

    assert string_of(catalog).endswith(" %c,cxx=gcc")
    assert_each_is_found(catalog)


def test_an_old_database_states_the_compiler(tmp_path: Path) -> None:
    catalog = catalog_of_nodes(tmp_path, in_format(4, node()), version="7")

    assert string_of(catalog).endswith(" %gcc@13.2.0")
    assert_each_is_found(catalog)


@pytest.mark.parametrize("text", [pytest.param(text, id=label) for label, text in HOSTILE_TEXT])
def test_hostile_text_is_left_out_and_the_spec_found(text: str, tmp_path: Path) -> None:
    fields = {"compiler": text, "os": text, "platform": text, "target": text}
    variants = [text, "+" + text, f"k={text}", text + "=v", f"j='{text}'"]
    records = [record(1, variants=variants, versions=[text], **fields)]
    write_page(tmp_path, [*records, record(2, variants=[f"k={text}"])], title="zlib")
    odd = node(
        hash_of(3),
        name=text,
        version=text,
        namespace=text,
        parameters={text or "x": text, "k": [text], "cflags": [text]},
        dependencies=[edge(text, GCC, ["build"], ["c", text])],
    )
    (tmp_path / "index.json").write_bytes(database(installs(odd, leaf(GCC, "gcc", text))))

    for source in (tmp_path / "develop", tmp_path / "index.json"):
        catalog = catalog_of(source, dependency_only=True)
        for said, _ in spelled(catalog):
            assert is_clean(said)
            kinds = {token.kind for token in tokens(said)}
            assert kinds <= {NAME, VERSION_TOKEN, VARIANT, PAIR, HASH, DEPENDENCY, SPACE}
            assert shlex.split(said)
        assert_each_is_found(catalog)


def test_an_index_of_spack_1_has_flags_and_compilers_in_its_strings() -> None:
    strings = [text for text, _ in spelled(catalog_of(INDEX_OF_1_2, dependency_only=True))]

    assert any(text.endswith(" %c,cxx=gcc@12.2.0") for text in strings)


# The install command


def test_the_command_installs_this_binary_and_builds_nothing() -> None:
    command = install_command(SPEC)

    assert command == f"spack install --cache-only /{SPEC.hash}"
    assert shlex.split(command)[-1] == "/" + SPEC.hash


@pytest.mark.parametrize("hash_", ["", "abc", SPEC.hash + "\n", "; rm -rf ~", SPEC.hash.upper()])
def test_there_is_no_command_for_what_is_not_a_hash(hash_: str) -> None:
    with pytest.raises(AssertionError):
        install_command(replace(SPEC, hash=hash_))

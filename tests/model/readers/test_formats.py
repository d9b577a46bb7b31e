"""Documents are recognised by their structure, and read as Spack reads them.

Broken ones are read as far as it goes. The files under `tests/data/spack` were written by Spack
0.23 and 1.2.
"""

import gc
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import Cancelled, Unreadable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency, Problem, Records, Spec
from spackscope.model.readers.formats import (
    DATABASE,
    MAX_MANIFEST_SIZE,
    is_hash_list,
    is_yaml_spec_file,
    read_document,
    read_hash_list,
    read_manifest,
)
from tests.builders.catalogs import all_texts, each_record, read, reasons
from tests.builders.manifests import ARCHIVE_TYPE, DATABASE_TYPE, entry, manifest
from tests.builders.nodes import FLAGS, GCC, GLIBC, GMAKE, ZLIB, in_format, leaf, node, zlib_nodes
from tests.builders.pages import hash_of, page, record
from tests.builders.spack import (
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    INSTALL_TREE,
    SPACK_DATA,
    SPEC_FILES,
    as_yaml,
    database,
    installs,
    zlib_index,
)
from tests.hostile import any_json


def specfile(listed: object = None, version: object = 5) -> bytes:
    listed = zlib_nodes() if listed is None else listed
    document = {"spec": {"_meta": {"version": version}, "nodes": listed}}
    return json.dumps({**document, "buildcache_layout_version": 2}).encode()


def signed(text: bytes) -> bytes:
    """Sign a document as GnuPG does in clear text, with a signature that says nothing."""
    lines = [b"- " + line if line.startswith(b"-") else line for line in text.split(b"\n")]
    return (
        b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + b"\n".join(lines) + b"\n"
        b"-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCgAdFiEE\n=abcd\n-----END PGP SIGNATURE-----\n"
    )


WHOLE = read(specfile())[0]


def of_old(specs: list[Spec]) -> list[tuple[object, ...]]:
    """Return what every format states."""
    return [(s.package, s.hash, s.version, s.os, s.target, s.variants) for s in specs]


def of_nodes(specs: list[Spec]) -> list[tuple[object, ...]]:
    """Return what a node states, whatever document it is in."""
    return [
        (s.package, s.hash, s.version, s.compiler, s.os, s.target, s.variants, s.dependencies)
        for s in specs
    ]


@pytest.mark.parametrize(
    ("path", "index"),
    [
        *((path, INDEX_OF_0_23) for path in SPEC_FILES),
        *((path, INDEX_OF_1_2) for path in SPACK_DATA.glob("mirror-v3/blobs/sha256/[1f]7/*")),
    ],
    ids=lambda path: path.name[:50],
)
def test_a_spec_file_equals_the_index(path: Path, index: Path) -> None:
    of_index = {spec.hash: spec for spec in read(index.read_bytes())[0]}

    specs, problems = read(path.read_bytes())

    assert problems == []
    assert [spec.in_cache for spec in specs] == [True] + [False] * (len(specs) - 1)
    for spec in specs:
        assert spec == replace(of_index[spec.hash], in_cache=spec.in_cache, cached=False)


@pytest.mark.parametrize("number", [1, 3, 4, 5, 6])
def test_documents_of_all_formats_are_read_alike(number: int) -> None:
    nodes = {new["hash"]: in_format(number, new) for new in zlib_nodes()}
    listed, version = list(nodes.values()), {1: "5", 3: "6", 4: "7", 5: "8", 6: "9"}[number]
    documents = [database({hash_: {"spec": its} for hash_, its in nodes.items()}, version)]
    if number == 1:
        documents.append(json.dumps({"spec": listed}).encode())
    else:
        roots = [{"hash": ZLIB, "spec": "zlib"}]
        versions = {3: [4], 4: [5], 5: [6, 7], 6: [8]}[number]
        documents += [specfile(listed, number), *(lock(nodes, roots, v) for v in versions)]
    for data in documents:
        specs, problems = read(data)

        assert problems == []
        assert of_old(specs) == of_old(WHOLE)
        assert specs[0].compiler == "gcc@13.2.0"
        libc = ("libc",) if number > 3 else ()
        assert (specs[0].dependencies or ())[-2:] == (
            Dependency(GLIBC, "glibc", ("link",), libc),
            Dependency(GMAKE, "gmake", ("build",)),
        )
        assert specs[0].spec_format == number


@pytest.mark.parametrize("number", [1, 4])
def test_a_spec_file_may_be_yaml(number: int) -> None:
    nodes = zlib_nodes(external={"path": None, "module": None})
    listed: Any = [in_format(number, new) for new in nodes]
    listed = listed if number == 1 else {"_meta": {"version": 4}, "nodes": listed}
    # What a build cache adds may come first.
    added = {"binary_cache_checksum": {"hash_algorithm": "sha256", "hash": "a62b50"}}
    for data in (as_yaml({"spec": listed}), as_yaml({**added, "spec": listed})):
        specs, problems = read(data)

        assert is_yaml_spec_file(data.decode())
        assert problems == []
        assert of_old(specs) == of_old(WHOLE)
        assert specs[0].external == ""
        assert read(b"---\n" + data) == (specs, problems)
        assert read(data.replace(b"\n", b"\r\n")) == (specs, problems)


def versioned(version: Any) -> list[tuple[bytes, str, str, int]]:
    """Return each kind of document with a version: its name, those known, and the newest."""
    nodes = zlib_nodes(annotations=...)
    return [
        (database(installs(*nodes), version), "version", "5 to 9", 9),
        (lock(version=version), "lockfile-version", "4 to 8", 8),
        (specfile(version=version), "version of the spec file", "2 to 6", 6),
    ]


@pytest.mark.parametrize(
    ("version", "wrong"),
    [
        *(("0.9.3", "'0.9.3', expected"), (8.5, "8.5, expected"), (None, "missing")),
        *(([], "a list, expected"), (True, "true, expected")),
    ],
)
def test_a_document_of_an_unknown_version_is_read_and_doubted(version: Any, wrong: str) -> None:
    for data, name, known, _ in versioned(version):
        specs, (problem,) = read(data)

        assert of_nodes(specs) == of_nodes(WHOLE)
        told = wrong.replace(", expected", f", expected {known}")
        rest = "the records are read as far as possible"
        assert problem.reason == f"{name} is {told}; {rest}"


@pytest.mark.parametrize("version", [10, "10", 10**50])
def test_a_newer_version_is_read_as_the_newest_that_is_known(version: Any) -> None:
    shown = repr(version) if isinstance(version, str) else str(version)[:40]
    for data, name, _, newest in versioned(version):
        specs, problems = read(data)

        assert of_nodes(specs) == of_nodes(WHOLE)
        assert {spec.spec_format for spec in specs} <= {5, 6}
        assert reasons(problems) == [
            f": {name} is {shown}, newer than {newest}, the newest known version;"
            f" the records are read as those of {newest}"
        ]


def test_the_signature_of_a_spec_file_is_removed() -> None:
    lines = as_yaml({"spec": [in_format(1, new) for new in zlib_nodes()]})
    assert b"\n- - zlib" in signed(lines)
    for text in (specfile(), json.dumps(json.loads(specfile()), indent=1).encode(), lines):
        assert read(signed(text)) == read(text)
        assert read(signed(text).replace(b"\n", b"\r\n")) == read(text)

    data = signed(specfile())
    specs, problems = read(data[: data.index(b"-----BEGIN PGP SIGNATURE")])
    assert specs == WHOLE
    assert reasons(problems) == [": its signature is missing"]


ROOTS = [{"hash": ZLIB, "spec": "zlib +shared"}]


def lock(
    concrete: object = None, roots: object = ROOTS, version: object = 6, **more: object
) -> bytes:
    """Write a lock file; a value that is given as `...` is left out."""
    whole: dict[str, object] = {
        "_meta": {"file-type": "spack-lockfile", "lockfile-version": version},
        "spack": {"version": "1.2.0", "type": "git", "commit": "abc"},
        "roots": roots,
        "concrete_specs": {its["hash"]: its for its in zlib_nodes()}
        if concrete is None
        else concrete,
        **more,
    }
    return json.dumps({key: value for key, value in whole.items() if value is not ...}).encode()


@pytest.mark.parametrize(
    ("path", "version"), [(INDEX_OF_0_23, 5), (INDEX_OF_1_2, 6)], ids=["0.23", "1.2"]
)
def test_a_lock_file_and_spack_find_have_the_nodes_of_an_index(path: Any, version: int) -> None:
    of_index, _ = read(path.read_bytes())
    records = json.loads(path.read_bytes())["database"]["installs"]
    concrete = {hash_: record["spec"] for hash_, record in records.items()}
    first = next(iter(concrete))

    locked, problems = read(lock(concrete, [{"hash": first, "spec": "x"}], version))
    printed, more_problems = read(json.dumps(list(concrete.values())).encode())

    assert problems == more_problems == []
    assert [spec.explicit for spec in locked] == [True] + [False] * (len(locked) - 1)
    for spec, one, other in zip(of_index, locked, printed, strict=True):
        states: dict[str, Any] = {"in_cache": spec.in_cache, "cached": spec.cached}
        assert replace(one, explicit=False, **states) == spec
        # What `spack find` prints has no version of its format.
        assert replace(other, spec_format=spec.spec_format, **states) == spec
    some, problems = read(json.dumps(zlib_nodes()[:1]).encode())
    assert [(spec.package, spec.compiler) for spec in some] == [("zlib", "gcc")]
    assert problems == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_earlier_lock_file_is_read_and_doubted(version: int) -> None:
    """Its keys are not the hashes of the specs, and its edges name the keys."""
    keys = {hash_: hash_of(90 + at) for at, hash_ in enumerate([ZLIB, GCC, GLIBC, GMAKE])}
    concrete = {}
    for key, new in zip(keys.values(), zlib_nodes(), strict=True):
        concrete[key] = in_format(1, new)
        for fields in concrete[key].values():
            for told in fields.get("dependencies", {}).values():
                told["hash"] = keys[told["hash"]]

    specs, problems = read(lock(concrete, [{"hash": keys[ZLIB], "spec": "zlib"}], version))

    assert [spec.hash for spec in specs] == [ZLIB, GLIBC, GMAKE, GCC]
    assert [spec.explicit for spec in specs] == [True, False, False, False]
    named = {its.hash for spec in specs for its in spec.dependencies or ()}
    assert named == {GLIBC, GMAKE}
    assert reasons(problems) == [
        f": lockfile-version {version} is from before Spack 0.18; "
        "the records are read as far as possible"
    ]


@pytest.mark.parametrize("hash_key", ["hash", "build_hash"])
def test_of_two_nodes_with_one_hash_the_one_reached_first_counts(hash_key: str) -> None:
    """Before Spack 0.18 builds that differ in build dependencies have one hash: `filter_specs`."""
    first, second, user, other = (hash_of(number) for number in (91, 92, 93, 94))
    concrete = {
        second: in_format(1, leaf(ZLIB, "zlib", "2")),
        first: in_format(1, leaf(ZLIB, "zlib", "1")),
        other: {"b": {"dependencies": {"zlib": {hash_key: second, "type": ["link"]}}}},
        user: {"a": {"dependencies": {"zlib": {hash_key: first, "type": ["link"]}}}},
    }
    roots = [{"hash": key, "spec": "x"} for key in (user, second, other)]

    specs, _ = read(lock(concrete, roots, 3))

    (zlib,) = (spec for spec in specs if spec.package == "zlib")
    assert (zlib.version, zlib.explicit) == ("1", True)
    specs, _ = read(lock(concrete, roots[::-1], 3))
    assert [spec.version for spec in specs if spec.package == "zlib"] == ["2"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"roots": ...}, ": roots is missing"),
        ({"roots": {}}, ": roots is an object, expected a list"),
        ({"roots": [7]}, ": roots contains 7 without a hash"),
        ({"roots": [{"spec": "zlib"}]}, ": roots contains an object without a hash"),
        ({"roots": [{"hash": hash_of(50), "spec": "xz@1"}]}, f": root xz@1 /{hash_of(50)[:7]}"),
        ({"roots": [{"hash": hash_of(50), "spec": []}]}, f": root /{hash_of(50)[:7]} is not"),
        ({"include_concrete": []}, ": include_concrete is a list, expected an object"),
        ({"include_concrete": {"/e": 7}}, "/e: environment is 7"),
        ({"include_concrete": {"/e": {}}}, "/e: concrete_specs is missing"),
        ({"concrete_specs": []}, ": concrete_specs is a list"),
        ({"concrete_specs": None}, ": concrete_specs is missing"),
    ],
)
def test_an_odd_environment_is_a_problem(more: dict[str, Any], reason: str) -> None:
    specs, problems = read(lock(**more))

    assert reasons(problems)[0].startswith(reason)
    assert len(specs) == (0 if "concrete_specs" in more else 4)
    assert [spec.explicit for spec in specs].count(True) == (
        0 if {"roots", "concrete_specs"} & more.keys() else 1
    )


def included(*arguments: dict[str, Any], roots: list[str], **more: Any) -> dict[str, Any]:
    return {
        "roots": [{"hash": root, "spec": "x"} for root in roots],
        "concrete_specs": {its["hash"]: its for its in arguments},
        **more,
    }


def test_included_environments_are_read_however_deep() -> None:
    zstd, xz = leaf(hash_of(20), "zstd", "1.5"), leaf(hash_of(21), "xz", "5.4")
    inner = included(xz, roots=[xz["hash"]])
    outer = included(zstd, *zlib_nodes(), roots=[zstd["hash"]], include_concrete={"/inner": inner})

    specs, problems = read(lock(include_concrete={"/outer": outer}))

    assert problems == []
    assert [spec.package for spec in specs] == ["zlib", "gcc", "glibc", "gmake", "zstd", "xz"]
    assert [spec.package for spec in specs if spec.explicit] == ["zlib", "zstd", "xz"]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (specfile([*zlib_nodes(), leaf(ZLIB, "zlib", "2")]), "zlib"),
        (lock(include_concrete={"/e": included(leaf(ZLIB, "zlib", "2"), roots=[])}), "/e: zlib"),
        (
            b'{"database": {"version": "8", "installs": {"%(key)b": %(one)b, "%(key)b": %(two)b}}}'
            % {
                b"key": ZLIB.encode(),
                b"one": json.dumps({"spec": node(dependencies=...)}).encode(),
                b"two": json.dumps({"spec": leaf(ZLIB, "zlib", "2")}).encode(),
            },
            "zlib",
        ),
    ],
    ids=["spec file", "included environment", "keys of an index"],
)
def test_of_a_spec_that_is_listed_twice_with_different_content_the_first_counts(
    data: bytes, place: str
) -> None:
    specs, problems = read(data)

    assert [spec.version for spec in specs if spec.hash == ZLIB] == ["1.3.1"]
    assert [str(problem).removeprefix("document: ") for problem in problems] == [
        f"{place}/{ZLIB[:7]}: it is listed twice with different content; the first one counts"
    ]


def test_a_spec_may_be_listed_twice_with_the_same_content() -> None:
    assert read(specfile([*zlib_nodes(), zlib_nodes()[1]])) == (WHOLE, [])


OLDEST = {"spec": [in_format(1, new) for new in zlib_nodes()]}
YAML = as_yaml(OLDEST)
ROOT_AND_OTHERS: list[tuple[str, ...]] = [(), ("needed",), ("needed",), ("needed",)]
DOCUMENTS: list[tuple[str, bytes, list[tuple[str, ...]]]] = [
    ("page", page([record(1)]), [("cached",)]),
    ("database", zlib_index(), [("cached",)] * 4),
    ("lock file", lock(), [("explicit",), (), (), ()]),
    ("spec file", specfile(), ROOT_AND_OTHERS),
    ("oldest spec file", json.dumps(OLDEST).encode(), ROOT_AND_OTHERS),
    ("spec file in YAML", YAML, ROOT_AND_OTHERS),
    ("spack find --json", json.dumps(zlib_nodes()).encode(), [()] * 4),
    ("signed spec file", signed(specfile()), ROOT_AND_OTHERS),
    ("signed spec file in YAML", signed(YAML), ROOT_AND_OTHERS),
]
NOT_A = "it is not a page of cache.spack.io, a Spack database (index.json), a spack.lock,"
NOT_KNOWN = f"{NOT_A} a spec file or the output of spack find --json"


@pytest.mark.parametrize(
    ("data", "states"), [pytest.param(*rest, id=kind) for kind, *rest in DOCUMENTS]
)
def test_a_document_is_recognised_by_its_structure_in_any_form(
    data: bytes, states: list[tuple[str, ...]]
) -> None:
    specs, problems = read(data)

    # Each format tells other states of the same specs.
    assert [spec.states for spec in specs] == states
    assert specs[0].package == "zlib"
    assert problems == []
    text = data.decode()
    forms = [
        gzip.compress(data),
        gzip.compress(data[:100]) + gzip.compress(data[100:]),
        data.replace(b"\n", b"\r\n"),
    ]
    if data.startswith((b"{", b"[")):
        forms += [text.encode("utf-8-sig"), text.encode("utf-16"), f"\n \t{text}\n\n".encode()]
        forms += [json.dumps(json.loads(data), indent=1).encode()]
    for form in forms:
        assert read(form) == (specs, problems)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b" \n", "it is empty"),
        (b"\xef\xbb\xbf", "it is empty"),
        *(
            (text.encode(), NOT_KNOWN)
            for text in (
                *("{}", "[]", "null", "1", '"database"', '{"version": 3, "data": []}', "[1]"),
                *('{"spec": null}', '{"spec": {}}', '{"spec": 7}', '["zlib"]', '[{"name": "x"}]'),
            )
        ),
        (gzip.compress(gzip.compress(zlib_index())), "byte 1 is not UTF-8 text"),
        (b"\n<html>", f"{NOT_KNOWN}: it is a web page"),
        (b"<?xml version='1.0'?><Error/>", f"{NOT_KNOWN}: it is a web page"),
        (b"not found", f"{NOT_KNOWN}: it is not JSON: Expecting value at character 0"),
        (b"{", "file is cut off at character 1"),
        (b'{"x" 1}' + b" " * 20, "it is not JSON: Expecting ':' delimiter at character 5"),
        (b"\xff\xfe{", "byte 2 is not UTF-16 text"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"database":' * 100_000, "it is nested too deeply"),
        (b'{"database":{"installs":' + b"[" * 100_000, "it is nested too deeply"),
        (b'{"database": null}', "database is missing"),
        (b'{"database": {"version": "8"}}', "installs is missing"),
        (b'{"database": {"installs": [1]}}', "installs is a list, expected an object"),
        (specfile({}), "nodes is an object, expected a list"),
        (specfile([]), "nodes is empty"),
        (b"\x1f\x8b", "it cannot be unpacked completely: file is cut off"),
        (b"\x1f\x8bnonsense", "it cannot be unpacked completely: Error -3"),
        (b"spec:\n- [" + b"[" * 100_000, "it is nested too deeply"),
        (b"spec:\n- &a [*a]\n", "it uses YAML aliases"),
        (b"spec:\n\t- x\n", "found character that cannot start any token"),
        (b"spec:\n- a\n---\nspec:\n- b\n", "it has another document"),
        (b"spec:\n- \xff\n", "byte 8 is not UTF-8 text"),
        (b"spec:\n  x: 1\n", NOT_KNOWN),
    ],
    ids=range(37),
)
def test_an_unknown_document_is_a_problem(data: bytes, reason: str) -> None:
    specs, (problem,) = read(data)

    assert specs == []
    assert problem.place == ""
    assert problem.reason.startswith(reason)


SMALL = installs(leaf(ZLIB, "zlib", "1"), *zlib_nodes()[1:3])
NODES = [its["spec"] for its in SMALL.values()]


@pytest.mark.parametrize(
    "data",
    [
        page([record(1), record(2, compiler="none")], meta={"num_specs": 2}),
        database(SMALL),
        json.dumps({"database": {"installs": SMALL, "version": "8"}}).encode(),
        lock({its["hash"]: its for its in NODES}),
        specfile(NODES),
        json.dumps({"spec": [in_format(1, its) for its in NODES]}).encode(),
        json.dumps(NODES).encode(),
    ],
    ids=[
        *("page", "index", "version last", "lock file", "spec file", "oldest spec file"),
        "spack find",
    ],
)
def test_the_specs_before_a_cut_are_read_and_the_problem_names_it(data: bytes) -> None:
    def of_all(specs: list[Spec]) -> list[tuple[str, str]]:
        return [(spec.hash, spec.version) for spec in specs]

    whole, _ = read(data)
    kept = []

    for length in range(len(data)):
        specs, problems = read(data[:length])
        assert of_all(specs) == of_all(whole[: len(specs)])
        kept.append(len(specs))
        assert problems
        if length and not data.startswith(b"---"):
            assert "at character" in problems[0].reason
    assert kept == sorted(kept)
    assert set(kept) == set(range(len(whole) + 1))


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    packed = gzip.compress(data)
    heads = (
        *(b'{"database":', b'{"spec":', b'{"spec": [', b"spec:\n", b"\xff\xfe-\0-\0"),
        *(b"---\nspec_details:", b"---\ntitle: a\nspec_details: ["),
        b"-----BEGIN PGP SIGNED MESSAGE-----",
    )
    for text in (data, packed, packed[:-9], *(head + data for head in heads)):
        assert all(isinstance(item, Records | Problem) for item in read_document(text, origin="o"))


NODE_FIELDS = sorted(node() | dict.fromkeys(("build_spec", "compiler", "external")))
RECORD_FIELDS = ["explicit", "in_buildcache", "installation_time", "installed", "path", "x"]
any_node = st.dictionaries(st.sampled_from(NODE_FIELDS), any_json).map(
    lambda fields: node(dependencies=...) | fields
)
any_record = st.dictionaries(st.sampled_from(sorted(record())), any_json).map(
    lambda fields: record(1) | fields
)


@given(
    st.lists(any_node | any_record | any_json, max_size=3),
    st.dictionaries(st.sampled_from(RECORD_FIELDS), any_json),
    any_json,
    any_json,
    any_json,
)
def test_no_json_raises_and_all_that_is_read_can_be_stored(
    listed: list[Any], fields: dict[str, Any], version: Any, roots: Any, more: Any
) -> None:
    by_hash = {hash_of(at): its for at, its in enumerate(listed)}
    named = [{"zlib": its} for its in listed]
    for data in (
        *(specfile(its, version) for its in (listed, named, [{**node(), "dependencies": listed}])),
        lock({**by_hash, GCC: node(GCC)}, roots, version, include_concrete=more),
        database({hash_: {"spec": its, **fields} for hash_, its in by_hash.items()}, version),
        page(listed, title=version, meta=more),
    ):
        for item in each_record(read_document(data, origin="o")):
            assert isinstance(item, Spec | Problem)
            assert all(text.encode().decode() == text for text in all_texts(item))


def as_shown(variant: str) -> str:
    """Cut the digests of patches as Spack does where it prints them."""
    is_patches = variant.startswith("patches")
    return (
        re.sub(r"[0-9a-f]{64}", lambda digest: digest[0][:7], variant) if is_patches else variant
    )


def printed(spec: Spec) -> str:
    """Spell a record as `spack find --format` does."""
    variants = sorted((as_shown(text) for text in spec.variants), key=lambda text: text[1:])
    flags = "".join(text for text in variants if text[0] in "+~")
    others = " ".join(sorted(text for text in variants if text[0] not in "+~"))
    arch = f"{spec.platform}-{spec.os}-{spec.target} {spec.os} {spec.target} {spec.platform}"
    name = f"{spec.package}-{spec.version}-{spec.hash[:7]}"
    return " ".join(f"{name} {flags} {others} {spec.compiler} {arch}".split())


def test_an_index_of_spack_1_2_equals_what_spack_find_prints() -> None:
    specs, problems = read(INDEX_OF_1_2.read_bytes())
    lines = (SPACK_DATA / "find_format.txt").read_text().splitlines()

    # Spack writes the hash of the compiler after its version.
    without_hash = (" ".join(re.sub(r"/[a-z2-7]{32}", "", line).split()) for line in lines)
    assert sorted(map(printed, specs)) == sorted(without_hash)
    assert problems == []


@pytest.mark.parametrize("path", [INDEX_OF_0_23, INDEX_OF_1_2, INSTALL_TREE], ids=str)
def test_nothing_of_a_real_database_is_lost(path: Any) -> None:
    records = json.loads(path.read_bytes())["database"]["installs"]

    specs, problems = read(path.read_bytes())

    assert problems == []
    assert [spec.hash for spec in specs] == list(records)
    for spec, its in zip(specs, records.values(), strict=True):
        written = its["spec"]
        assert spec.package_hash == written["package_hash"]
        assert spec.namespace == written["namespace"]
        assert len(spec.variants) == len(written["parameters"].keys() - FLAGS.keys())
        assert spec.dependencies == tuple(
            Dependency(
                dependency["hash"],
                dependency["name"],
                tuple(dependency["parameters"]["deptypes"]),
                tuple(dependency["parameters"]["virtuals"]),
            )
            for dependency in written.get("dependencies", ())
        )
        assert spec.external == (written["external"]["path"] if "external" in written else "")
        assert spec.in_cache == its.get("in_buildcache", True)
        assert spec.path == its.get("path", "")
        assert spec.installed == its.get("installed", False)
        assert spec.explicit == its.get("explicit", False)
        assert spec.installed_at == its.get("installation_time")


def test_equal_values_of_a_database_are_one_object() -> None:
    specs, _ = read(INDEX_OF_1_2.read_bytes())

    for value in ("compiler", "os", "target", "namespace", "version"):
        texts = [getattr(spec, value) for spec in specs]
        assert len({id(text) for text in texts}) == len(set(texts))
    edges = [dependency for spec in specs for dependency in spec.dependencies or ()]
    assert len({id(dependency) for dependency in edges}) == len(set(edges)) < len(edges)


@pytest.mark.parametrize(
    ("record", "in_cache", "cached", "installed"),
    [
        ({}, True, False, False),
        ({"in_buildcache": True}, True, True, False),
        ({"in_buildcache": False}, False, False, False),
        ({"in_buildcache": True, "installed": True, "path": "/opt/zlib"}, True, True, True),
        ({"installed": True, "path": "/opt/zlib"}, True, False, True),
        ({"installed": False, "path": "/opt/zlib", "deprecated_for": GCC}, False, False, False),
        ({"installed": True, "in_buildcache": False, "path": "/opt/zlib"}, False, False, True),
    ],
)
def test_a_record_has_whether_it_is_in_the_cache(
    record: dict[str, Any], in_cache: bool, cached: bool, installed: bool
) -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), "ref_count": 0, **record}})

    (spec,), problems = read(data)

    assert (spec.in_cache, spec.cached, spec.installed) == (in_cache, cached, installed)
    assert problems == []


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"in_buildcache": "yes"}, "in_buildcache is 'yes', expected true or false"),
        ({"in_buildcache": None}, "in_buildcache is missing"),
        ({"installed": 1, "path": ""}, "installed is 1, expected true or false"),
        ({"explicit": [], "path": ""}, "explicit is a list, expected true or false"),
        ({"path": 7}, "path is 7, expected a string"),
        ({"path": {}}, "path is an object, expected a string"),
        ({"installation_time": "now"}, "installation_time is 'now', expected seconds since 1970"),
        ({"installation_time": float("nan")}, "installation_time is NaN"),
        ({"installation_time": float("inf")}, "installation_time is Infinity"),
        ({"installation_time": -1}, "installation_time is -1"),
        ({"installation_time": 10**300}, "installation_time is 1000"),
        ({"installation_time": True}, "installation_time is true"),
    ],
)
def test_odd_fields_beside_a_node_are_a_problem(record: dict[str, Any], reason: str) -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), **record}})

    (spec,), (problem,) = read(data)

    assert problem.place == f"zlib/{ZLIB[:7]}"
    assert problem.reason.startswith(reason)
    assert spec.installed_at is None


@pytest.mark.parametrize("record", [None, 1, "x", [], True, {}, {"spec": None}, {"spec": []}])
def test_a_record_that_is_none_takes_no_other_along(record: object) -> None:
    data = database({hash_of(8): record, **installs(*zlib_nodes())})

    specs, problems = read(data)

    assert [spec.hash for spec in specs] == [ZLIB, GCC, GLIBC, GMAKE]
    (problem,) = problems
    assert problem.place == "spec/2222222"
    assert problem.reason.endswith((" is missing", ", expected an object"))


VERSION_LAST = b'{"database": {"installs": %b, "version": %b}}'


@pytest.mark.parametrize("version", [b'"5"', b'"7"', b'"8"', b'"99"', b"8", b"null", b'"\\u0038"'])
def test_a_version_after_the_records_counts_like_one_before_them(version: bytes) -> None:
    for number in (3, 4, 5):
        records = json.dumps(installs(*(in_format(number, new) for new in zlib_nodes()))).encode()

        items = read(VERSION_LAST % (records, version))

        assert items == read(b'{"database": {"version": %b, "installs": %b}}' % (version, records))


def test_a_reader_reports_its_progress_and_can_be_stopped() -> None:
    data = database(installs(*(leaf(hash_of(number), "zlib", "1") for number in range(1000))))
    reports = []

    def watch(count: int, expected: int) -> None:
        reports.append((count, expected))
        if count > 500:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(read_document(data, origin="document", on_count=watch))

    assert reports == [(256, 1000), (512, 1000)]
    assert gc.isenabled()


def test_hashes_are_read_as_spack_and_scripts_print_them() -> None:
    first, second = hash_of(1), hash_of(2)
    text = f"{first}\n\n# kept\n/{second} zlib\r\n  zlib@1.3/{hash_of(3)}\n{first}\nzlib\n"
    assert list(map(str, read_hash_list(text.encode(), origin="standard input"))) == [
        *(first, second, hash_of(3)),
        "standard input: line 7: 'zlib' is not a full hash",
    ]
    assert is_hash_list(text.encode())
    assert not is_hash_list(gzip.compress(b"{}", mtime=0))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"checksum": ...}, "checksum is missing"),
        ({"checksum": ""}, "checksum is missing"),
        ({"checksum": 5}, "checksum is 5, expected 64 hexadecimal digits"),
        ({"checksum": "../../../etc/passwd"}, "expected 64 hexadecimal digits"),
        ({"checksum": "a" * 63 + "/"}, "expected 64 hexadecimal digits"),
        ({"checksum": "a" * 64 + "\n"}, "expected 64 hexadecimal digits"),
        ({"checksumAlgorithm": "md5"}, "checksumAlgorithm is 'md5', expected sha256"),
        ({"checksumAlgorithm": {}}, "checksumAlgorithm is an object"),
        ({"mediaType": ...}, "mediaType is missing"),
        ({"mediaType": ["x"]}, "mediaType is a list"),
    ],
)
def test_an_entry_that_is_wrong_is_named(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unreadable, match="the manifest names no index: ") as refusal:
        read_manifest(manifest(entry(DATABASE_TYPE, b"index", **fields))).blob(DATABASE)

    assert reason in str(refusal.value)


@pytest.mark.parametrize("length", [..., -1, 1.5, "7", None, 10**30, float("nan")])
def test_an_invalid_length_is_no_size(length: object) -> None:
    data = manifest(entry(ARCHIVE_TYPE, b"", contentLength=length))

    read = read_manifest(data)
    assert read.blob(ARCHIVE_TYPE).size is None
    assert bool(read.remarks) is (length is not ...)
    assert all(remark.startswith("contentLength is ") for remark in read.remarks)


def test_a_wrong_entry_spoils_no_other() -> None:
    good = entry(DATABASE_TYPE, b"y")
    upper = {**good, "checksum": good["checksum"].upper()}
    wrong = entry(DATABASE_TYPE, b"x", checksum=1)

    parsed = read_manifest(manifest(None, 5, "x", [], wrong, upper))

    (blob,) = parsed.blobs
    assert blob == parsed.blob(DATABASE)
    assert blob.checksum == good["checksum"]
    assert blob.name == f"blobs/sha256/{good['checksum'][:2]}/{good['checksum']}"
    assert len(parsed.remarks) == 5


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b'{"data": {}}', b"<html>404</html>", b"\x1f\x8b\x08", b"\xff\xfe",
     b'{"data": ' * 100_000, b" " * (MAX_MANIFEST_SIZE + 1), signed(b"%s"),
     manifest(entry(DATABASE_TYPE, b"index"))[:-20]],
)  # fmt: skip
def test_a_text_that_is_not_a_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="manifest"):
        read_manifest(data)


@given(st.lists(any_json, max_size=3), any_json, any_json, any_json)
def test_what_is_wrong_with_any_manifest_is_short(
    listed: list[Any], media_type: object, checksum: object, compression: object
) -> None:
    fields = {"mediaType": media_type, "checksum": checksum, "compression": compression}
    odd = entry(DATABASE_TYPE, b"index", **fields)
    for remark in read_manifest(manifest(odd, *listed)).remarks:
        assert remark.encode()
        assert len(remark) < 300

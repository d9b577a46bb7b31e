"""`needs --spdx` and `needs --cyclonedx` print bills that other programs take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from tests.builders import (
    PROJECT_SUBKEY,
    complete,
    edge,
    environment,
    hash_of,
    leaf,
    node,
    signed_v3,
    write_files,
    write_index,
)
from tests.builders.recipes import recipe, write_repository
from tests.hostile import HOSTILE_TEXT
from tests.program import Program

FORMATS = ("spdx", "cyclonedx")
APP, ZLIB, OTHER, TOOL, HOST, LOST = map(hash_of, range(1, 7))
NCURSES = "vipihp75pz2ju5uhqfacbpmiqi7jjurb"

Document = dict[str, Any]


def bill(program: Program, format_: str, *words: str) -> Document:
    """Return the bill of specs, which another program has found to be valid."""
    result = program("needs", *words, f"--{format_}")
    assert result.returncode == 0, result.stderr
    document: Document = json.loads(result.stdout)
    if format_ == "spdx":
        parsed = JsonLikeDictParser().parse(document)
        found = [each.validation_message for each in validate_full_spdx_document(parsed)]
        assert found == []
    else:
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(result.stdout) is None
    for each in specs_of(document):
        purl = PackageURL.from_string(purl_of(each))
        assert purl.type == "spack"
    return document


def specs_of(document: Document) -> list[Document]:
    specs: list[Document] = document.get("packages") or document.get("components", [])
    return specs


def purl_of(spec: Document) -> str:
    purl: str = spec.get("purl") or spec["externalRefs"][0]["referenceLocator"]
    return purl


def by_purl(document: Document) -> dict[str, Document]:
    """Return the specs by the first letters of their hashes."""
    return {purl_of(each).rpartition("=")[2]: each for each in specs_of(document)}


def licence_of(spec: Document) -> str:
    if "SPDXID" in spec:
        return str(spec["licenseDeclared"])
    (licence,) = spec.get("licenses", [{}])
    named = licence.get("license", {}).get("name", "NOASSERTION")
    return str(licence.get("expression", named))


@pytest.fixture
def lock(program: Program) -> str:
    """Write an environment with an external, two zlibs, and a dependency that is not described."""
    external: dict[str, object] = {"path": "/usr", "module": None, "extra_attributes": {}}
    below = [
        edge("zlib", ZLIB, ["link"]),
        edge("tool", TOOL, ["build"]),
        edge("glibc", HOST, ["link"], ["libc"]),
        edge("lost", LOST, ["run"]),
    ]
    nodes = [
        node(APP, name="app", version="1", dependencies=below),
        node(ZLIB, name="zlib", version="1.3", dependencies=[edge("zlib", OTHER, ["run"])]),
        # No Spack writes a cycle.
        node(OTHER, name="zlib", version="1.3", dependencies=[edge("app", APP, ["link"])]),
        leaf(TOOL, "tool", "2:0+x y"),
        node(HOST, name="glibc", version="2.36", dependencies=[], external=external),
    ]
    write_index(program.home, *nodes)
    (program.home / "spack.lock").write_bytes(environment(nodes, APP))
    texts = {
        "app": recipe("app", "homepage = 'https://app.example/a?b=1'\nlicense('mit OR Zlib')"),
        "zlib": recipe("zlib", "homepage = 'javascript:alert(1)'\nlicense('custom [b]EULA')"),
        "tool": recipe("tool", "license('LicenseRef-Tool AND MIT', when='@2:')"),
        "lost": recipe("lost", "license('MIT')"),
    }
    write_repository(program.home / "site", texts)
    return "spack.lock"


@pytest.mark.parametrize("format_", FORMATS)
def test_a_bill_has_what_recipes_state_of_the_closure(
    program: Program, lock: str, format_: str
) -> None:
    words = ("-f", "index.json", "--recipes", "site")
    run = bill(program, format_, lock, *words)
    assert bill(program, format_, "app", *words).keys() == run.keys()
    specs = by_purl(run)
    assert specs.keys() == {APP, ZLIB, OTHER, HOST, LOST}
    text = json.dumps(run)
    assert "https://app.example/a?b=1" in text
    assert "javascript" not in text
    licences = {hash_: licence_of(each) for hash_, each in specs.items()}
    assert licences[APP] == "MIT OR Zlib"
    assert licences[ZLIB] == licences[OTHER]
    assert licences[HOST] == licences[LOST] == "NOASSERTION"
    assert "external, not built by Spack: /usr" in json.dumps(specs[HOST])
    assert "no source describes it" in json.dumps(specs[LOST])
    assert purl_of(specs[LOST]) == f"pkg:spack/lost?sha={LOST}"
    every = by_purl(bill(program, format_, lock, *words, "--build"))
    assert every.keys() - specs.keys() == {TOOL}
    assert licence_of(every[TOOL]) == "LicenseRef-Tool AND MIT"
    assert purl_of(every[TOOL]) == f"pkg:spack/builtin/tool@2%3A0%2Bx%20y?sha={TOOL}"


def test_spdx_states_relations_and_the_texts_of_other_licences(
    program: Program, lock: str
) -> None:
    words = ("-f", "index.json", "--recipes", "site", "--build")
    document = bill(program, "spdx", lock, *words)
    (text,) = {
        each["extractedText"]
        for each in document["hasExtractedLicensingInfos"]
        if each["licenseId"] == licence_of(by_purl(document)[ZLIB])
    }
    assert text == "custom [b]EULA"

    def name(id_: str) -> str:
        return id_.removeprefix("SPDXRef-").removeprefix("PACKAGE-")

    relations = {
        (name(each["spdxElementId"]), each["relationshipType"], name(each["relatedSpdxElement"]))
        for each in document["relationships"]
    }
    assert relations == {
        ("DOCUMENT", "DESCRIBES", APP),
        *((APP, "DEPENDS_ON", below) for below in (ZLIB, HOST, LOST)),
        (TOOL, "BUILD_DEPENDENCY_OF", APP),
        (ZLIB, "DEPENDS_ON", OTHER),
        (OTHER, "DEPENDS_ON", APP),
        (LOST, "DEPENDS_ON", "NOASSERTION"),
    }


def test_cyclonedx_states_scopes_and_what_is_unknown(program: Program, lock: str) -> None:
    words = ("-f", "index.json", "--recipes", "site", "--build")
    document = bill(program, "cyclonedx", lock, *words)
    scopes = {hash_: each["scope"] for hash_, each in by_purl(document).items()}
    assert [hash_ for hash_, scope in scopes.items() if scope == "excluded"] == [TOOL]
    depends = {each["ref"]: each["dependsOn"] for each in document["dependencies"]}
    assert depends["roots"] == [APP]
    assert set(depends[APP]) == {ZLIB, TOOL, HOST, LOST}
    assert document["compositions"] == [{"aggregate": "unknown", "dependencies": [LOST]}]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_bill_has_the_checksums_of_archives_and_who_signed_them(
    program: Program, format_: str
) -> None:
    files = complete(signed_v3())
    write_files(program.home / "mirror", files)
    spec = by_purl(bill(program, format_, NCURSES[:7], "-f", "mirror"))[NCURSES]
    (stated,) = spec.get("checksums") or spec["hashes"]
    checksum = stated.get("checksumValue") or stated["content"]
    assert f"blobs/sha256/{checksum[:2]}/{checksum}" in files
    assert f"signed: by key {PROJECT_SUBKEY}" in json.dumps(spec)
    assert "not verified" in json.dumps(spec)


@pytest.mark.parametrize("format_", FORMATS)
def test_the_same_specs_have_the_same_bytes(program: Program, format_: str) -> None:
    write_files(program.home / "mirror", complete(signed_v3()))
    words = ("needs", NCURSES[:7], "-f", "mirror", f"--{format_}")
    first = program(*words).stdout
    assert first == program(*words, XDG_CACHE_HOME=str(program.home / "other")).stdout
    assert "1970" not in first
    dated = program(*words, SOURCE_DATE_EPOCH="1700000000").stdout
    assert "2023-11-14T22:13:20Z" in dated
    assert dated != first
    for wrong in ("yesterday", "9" * 30):
        result = program(*words, SOURCE_DATE_EPOCH=wrong)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"SOURCE_DATE_EPOCH is not a time: {wrong}" in result.stderr


@pytest.mark.parametrize("format_", FORMATS)
def test_without_recipes_licences_are_not_stated_and_it_is_said_where_to_get_them(
    program: Program, lock: str, format_: str
) -> None:
    specs = specs_of(bill(program, format_, lock, "-f", "index.json"))
    assert {licence_of(each) for each in specs} == {"NOASSERTION"}
    result = program("needs", lock, "-f", "index.json", f"--{format_}")
    assert result.stderr.count("clone https://github.com/spack/spack-packages") == 1
    assert program("needs", lock, "-f", "index.json").stderr.count("--recipes") == 0


@pytest.mark.parametrize("format_", FORMATS)
def test_a_page_says_that_dependencies_are_unknown(program: Program, format_: str) -> None:
    document = bill(program, format_, "pfqg2xi")
    assert len(specs_of(document)) == 1
    assert "DEPENDS_ON" in json.dumps(document) or document["compositions"]


@pytest.mark.parametrize("format_", FORMATS)
def test_hostile_texts_leave_a_bill_valid(program: Program, tmp_path: Path, format_: str) -> None:
    texts = [text for _, text in HOSTILE_TEXT] + ["(" * 5_000, "x" * 9_000, "MIT AND", "\ud800"]
    nodes = [leaf(hash_of(n), f"p{n}", text[:50]) for n, text in enumerate(texts[:-1], 1)]
    nodes += [leaf(hash_of(len(texts)), f"p{len(texts)}", "1")]
    every = node(
        hash_of(0), name="all", version="1",
        dependencies=[edge(each["name"], each["hash"], ["link"]) for each in nodes],
    )  # fmt: skip
    write_index(program.home, every, *nodes)
    recipes = {
        f"p{n}": recipe(f"p{n}", f"homepage = 'https://a.example/{n}<>'\nlicense({text!r})")
        for n, text in enumerate(texts, 1)
    }
    write_repository(program.home / "site", recipes)
    addresses = ("/<>", "/%zz", "/#a#b", "/[x]", ":99999999", "/\u200b")
    for n, wrong in enumerate(addresses, 1):
        path = program.home / "site" / "packages" / f"p{n}" / "package.py"
        path.write_text(path.read_text().replace(f"/{n}<>", wrong))
    document = bill(program, format_, "all", "-f", "index.json", "--recipes", "site")
    assert len(specs_of(document)) == len(nodes) + 1
    assert len({*map(licence_of, specs_of(document))}) > len(texts) // 2
    assert "https://a.example" not in json.dumps(document)

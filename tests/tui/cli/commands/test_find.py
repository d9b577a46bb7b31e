import csv
import io
import json
import re
from pathlib import Path

import pytest

from spackscope.tui.process import ExitCode
from tests.browsing import sample_where
from tests.builders.nodes import GCC, edge, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import SpackRoot, whole_index, write_index
from tests.examples import cases
from tests.program import COMMAND, Program, assert_golden
from tests.tui.browser.hdf5_index import write_hdf5_index

HERE = {"SPACKSCOPE_HOST": "target=zen3 glibc=2.36"}
"""A host whose builds come first, whatever machine runs the tests."""
PLAIN = {"NO_COLOR": "1"}
HOST = ("--host", "target=zen3 glibc=2.36")


def test_options_may_be_between_the_words_of_a_query(program: Program) -> None:
    found = program("find", "version=0.4:", "--hashes", "os=sequoia").stdout.split()
    assert {*found} == sample_where(
        lambda d: d["os"] == "sequoia" and not d["versions"][0].startswith("0.3")
    )


def test_columns_are_separated_by_tabs_without_a_terminal(program: Program) -> None:
    result = program("find", "-f", "sample", "py-build", SPACKSCOPE_HOST=HERE["SPACKSCOPE_HOST"])
    assert_golden("find-tabs", "".join(result.stdout.splitlines(keepends=True)[:4]))
    assert {line.count("\t") for line in result.stdout.splitlines()} == {12}
    assert len(result.stdout.splitlines()) == 25
    assert result.stderr == ""


def test_json_is_an_array_of_objects_with_all_keys(program: Program) -> None:
    result = program("find", "-f", "sample", "--json", "hash=pfqg2xi", *HOST)
    assert_golden("find-json", result.stdout)


def test_no_cell_of_csv_is_a_formula(program: Program) -> None:
    names = ["=1+1", "+1", "-1", "@x", "＝1", "'=1", "x=1"]
    page = write_page(
        program.home / "pages" / "p.md",
        [record(number, os=name, variants=["+mpi"]) for number, name in enumerate(names)],
    )
    text = program("find", "--csv", "-f", str(page)).stdout
    for row in csv.DictReader(io.StringIO(text)):
        assert not [cell for cell in row.values() if cell.startswith(tuple("=+-@＝"))]
        # As the documentation tells a reader.
        assert row["variants"].removeprefix("'") == "+mpi"
        names.remove(row["os"].removeprefix("'"))
    assert names == []


def test_a_terminal_gets_a_table_and_a_pipe_no_colour(program: Program) -> None:
    code, text = program.on_terminal("find", "py-build", "--flat", changes=HERE)
    assert code == 0
    assert_golden("find-table-100", text.replace("\x1b", "␛"))
    _, text = program.on_terminal("find", "hash=pfqg2xi", columns=120, changes=PLAIN)
    assert_golden("find-table-of-one", text)
    assert "\x1b" not in program("find", "py-build", CLICOLOR_FORCE="1").stdout


def test_look_alikes_are_one_line_that_says_what_sets_it_apart(program: Program) -> None:
    (program.home / "index.json").write_bytes(whole_index("spack1"))
    words = ("find", "-f", "index.json")
    # Later no progress of reading it is shown.
    assert program(*words, "hdf5@1.14.6").stdout.count("\n") == 43
    for columns in (80, 120):
        _, text = program.on_terminal(*words, "hdf5@1.14.6", columns=columns, changes=PLAIN | HERE)
        assert_golden(f"find-folded-{columns}", text)

    _, text = program.on_terminal(*words, "+mpi", columns=120, changes=PLAIN)
    head, *lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.endswith(" unlike others")) + 1
    # But for how many there are, hash and users.
    told = [re.sub(r"^×\d+|\b[a-z2-7]{7} +(\d+|-)", "", line) for line in lines[start:]]
    assert len(told) > 100
    assert len(told) == len(set(told))
    counts = [
        int(line[1:].split()[0]) if line[0] == "×" else line[0] == " " for line in lines[start:]
    ]
    assert head.startswith(f"{sum(counts)} specs")


@pytest.mark.parametrize(
    ("words", "changes", "is_bold"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": ""}, True),
        ([], {"NO_COLOR": "1"}, False),
        (["--no-color"], {}, False),
        ([], {"TERM": "dumb"}, False),
    ],
)
def test_heads_are_bold_where_colour_is_wanted(
    program: Program, words: list[str], changes: dict[str, str], is_bold: bool
) -> None:
    _, text = program.on_terminal("find", "py-build", *words, changes=changes)
    assert ("\x1b[1m   version" in text) == is_bold
    assert ("\x1b" in text) == is_bold


def test_a_table_shows_what_differs_in_the_colours_of_the_screen(program: Program) -> None:
    variants = [["+mpi", "~hl", "api=v18", "+tools"], ["~mpi", "+hl", "api=v110", "+tools"]]
    records = [record(n, variants=each) for n, each in enumerate(variants, 1)]
    write_page(program.home / "zlib.md", records)
    _, text = program.on_terminal("find", "--flat", "-f", "zlib.md", columns=90)
    assert text.splitlines() == [
        "2 specs · zlib@1.3.1 · %gcc@13.2.0 · ubuntu24.04 · x86_64_v3 · stacks e4s · linux",
        "develop · from zlib.md",
        "\x1b[2msame in all: +tools\x1b[0m",
        "\x1b[1mhash     variants\x1b[0m",
        "\x1b[36m2222222\x1b[0m  \x1b[33mapi=v18\x1b[0m \x1b[2m~hl\x1b[0m \x1b[32m+mpi\x1b[0m",
        "\x1b[36m2222222\x1b[0m  \x1b[33mapi=v110\x1b[0m \x1b[32m+hl\x1b[0m \x1b[2m~mpi\x1b[0m",
    ]


def test_what_does_not_fit_an_encoding_is_spelled_out(program: Program) -> None:
    write_page(program.home / "zlib.md", [record(1, os="überOS")])
    program("find", "-f", "zlib.md", PYTHONIOENCODING="ascii", code=0, prints="\\xfcberOS")
    code, text = program.on_terminal("find", changes={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert code == 0
    assert "346 specs" in text


def test_a_reader_that_stops_early_is_not_an_error(program: Program) -> None:
    # More than a pipe holds.
    write_page(program.home / "zlib.md", [record(number) for number in range(5_000)])
    process = program.start("find", "-f", "zlib.md")
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith("package\thash\t")
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 0
    process.stderr.close()


@cases("content", ["raise SystemExit"], more=["", "import nothing_like_it"])
def test_a_yaml_module_of_the_users_own_costs_only_what_is_yaml(
    program: Program, content: str
) -> None:
    module = program.write("yaml.py", content)
    config = program.write(".spack/mirrors.yaml", "mirrors:\n  a: /nowhere\n")
    write_page(program.home / "pages" / "a" / "specs.md", [record(1)])
    program.write("zlib.spec.yaml", f"spec:\n- zlib:\n    hash: {hash_of(2)}\n")

    files = ("-f", "pages", "-f", "zlib.spec.yaml")
    result = program.run(*COMMAND, "find", *files, "-f", "spack:a")

    assert (result.returncode, len(result.stdout.splitlines())) == (ExitCode.FOUND, 2)
    assert "zlib.spec.yaml: PyYAML cannot be loaded: " in result.stderr
    assert f"{config}: cannot be read: PyYAML cannot be loaded: " in result.stderr
    assert str(module) in result.stderr


def write_zlibs(home: Path) -> None:
    """Write an index of three zlibs: one runs on HOST, one does not, and one is too old."""
    arch = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
    old = {"original_specfile_version": 4}
    nodes = (
        node(hash_of(1), version="1", arch=arch, dependencies=[]),
        node(hash_of(2), version="2", arch={**arch, "target": "zen4"}, dependencies=[]),
        node(hash_of(3), version="3", arch=arch, dependencies=[], annotations=old),
    )
    write_index(home, *nodes)


def test_json_says_what_fits_the_host_and_why_not(program: Program) -> None:
    write_zlibs(program.home)
    specs = program.rows("find", "-f", "index.json", *HOST)
    assert {spec["version"]: (spec["fits"], spec["reusable"]) for spec in specs} == {
        "1": (True, True),
        "2": (False, False),
        "3": (True, False),
    }
    reasons = {spec["version"]: spec["reasons"] for spec in specs}
    assert reasons["1"] == []
    assert [[*reason.values()] for reason in reasons["2"]] == [
        ["target", False, "target too new", "target zen4 > zen3"]
    ]
    assert [reason["rule"] for reason in reasons["3"]] == ["old-format"]
    # Its host may be one of the environment, too.
    found = program(
        "find", "-f", "index.json", "--csv", "version=3", "fits=*", SPACKSCOPE_HOST="zen3"
    ).stdout
    (row,) = csv.DictReader(io.StringIO(found))
    assert (row["fits"], row["reusable"]) == ("yes", "no")
    assert row["reasons"] == "old-format: built before Spack 1.0"


def test_json_names_the_missing_end_of_a_long_chain_for_each_of_its_specs(
    program: Program,
) -> None:
    count = 4_000
    chain = [
        node(hash_of(i), name=f"p{i}", dependencies=[edge(f"p{i + 1}", hash_of(i + 1), ["link"])])
        for i in range(count)
    ]
    write_index(program.home, *chain)

    result = program("find", "-f", "index.json", "--jsonl", *HOST)

    assert len(specs := [json.loads(line) for line in result.stdout.splitlines()]) == count
    sentence = f"p{count}: dependency not described"
    assert all(sentence in [each["sentence"] for each in spec["reasons"]] for spec in specs)


def test_what_fits_can_be_found_and_what_it_hides_is_said(program: Program) -> None:
    write_zlibs(program.home)
    for words, versions, message in (
        (["fits"], "3 1", "fits hides 1 of 3: target too new 1"),
        (["reusable"], "1", "reusable hides 2 of 3: target too new 1 · built before Spack 1.0: 1"),
        (["target=:host"], "3 1", ""),
    ):
        result = program("find", "-f", "index.json", "--csv", *HOST, *words)
        found = [row["version"] for row in csv.DictReader(io.StringIO(result.stdout))]
        assert " ".join(found) == versions
        messages = [message] if message else []
        assert result.stderr == "".join(f"spackscope: {text}\n" for text in messages)


def test_a_file_among_the_words_is_read_or_answered_with_how_to_name_it(program: Program) -> None:
    for name in ("s1.json", "s1.text"):
        write_index(program.home / name, node(dependencies=[]))
    for command in ("find", "show"):
        assert "s1.json" in program(command, "s1.json", "zlib").stdout
        assert "/s1.text" in program(command, "./s1.text", "zlib").stdout
        result = program(command, "s1.text", "zlib", code=ExitCode.USAGE)
        assert result.stderr == "spackscope: s1.text is a file: write ./s1.text\n"


def test_one_dependency_that_is_missing_is_counted_as_one(program: Program) -> None:
    write_index(program.home, node(dependencies=[edge("gcc", GCC, ["build"])]))
    assert ": 1 dependency is missing, such as gcc/" in program("find", "-f", "index.json").stderr


def test_a_target_alone_is_a_host(program: Program) -> None:
    whole = program("find", "--host", "target=zen3", "--csv", "fits=*")
    assert program("find", "--host", "zen3", "--csv", "fits=*").stdout == whole.stdout


def test_what_no_spec_fits_is_explained(program: Program) -> None:
    write_zlibs(program.home)
    result = program("find", "-f", "index.json", "--host", "target=icelake", "zlib", "fits")
    assert result.returncode == ExitCode.NOTHING
    assert "fits hides 3 of 3: other target 3" in result.stderr
    assert "No zlib runs on this host" in result.stderr
    result = program("find", "--host", "target=zen2 glibc=2.28", "py-build", "fits")
    assert "No py-build is known to run on this host" in result.stderr
    assert "fits=unknown instead of fits" in result.stderr
    result = program("find", "-f", "index.json", *HOST, "fits='target to new'")
    assert "No spec has fits='target to new', only no, target too new and yes" in result.stderr


SOURCE_MIRROR = "mirrors: {spack-public: {url: https://mirror.spack.io, binary: false}}"


@pytest.mark.parametrize(
    ("version", "tag"), [("0.23.1", "v0.23.1"), ("1.2.0.dev0", "TAG"), ("", "TAG")]
)
def test_beside_a_spack_without_binaries_the_sample_answers_nothing(
    program: Program, tmp_path: Path, version: str, tag: str
) -> None:
    spack = SpackRoot(tmp_path / "spack", version)
    spack.write("spack/etc/spack/defaults/mirrors.yaml", SOURCE_MIRROR)
    root = str(spack.root)

    message = program.refused(
        "find", "--hashes", "py-build", SPACK_ROOT=root, code=ExitCode.UNREADABLE
    )
    assert f"`spack mirror add spack-cache https://binaries.spack.io/{tag}` adds" in message
    assert "`-f public` reads the public cache" in message
    program("complete", "fish", "--", "find", "py-b", SPACK_ROOT=root, stdout="spackscope files\n")

    named = program("find", "--hashes", "-f", "sample", "py-build", SPACK_ROOT=root)
    assert len(named.stdout.splitlines()) == 24
    (program.home / "sample").mkdir()
    assert program("find", "-f", "sample", "py-build", SPACK_ROOT=root).returncode != 0
    message = program.refused("find", "-f", "sample_data", code=ExitCode.UNREADABLE)
    assert "the source sample_data does not exist" in message
    write_page(program.home / "sample_data" / "specs.md", [record(1)])
    assert program("find", "-f", "sample_data", "--hashes").stdout.split() == [hash_of(1)]


def answer_lines(stderr: str) -> list[str]:
    """Return what is said about a query, not about the index of `write_hdf5_index`."""
    return [line for line in stderr.splitlines() if "is missing, such as gone" not in line]


@pytest.fixture
def hdf5(program: Program) -> tuple[str, str]:
    """Write an index of hdf5 and what uses it; return the option that names it."""
    write_hdf5_index(program.home / "index.json")
    return "-f", "index.json"


@pytest.mark.parametrize(
    ("words", "sentence", "ways"),
    [
        ("latest hdf5", "Unknown package latest", ["without latest  1"]),
        ("hdf5 !latest", "Unknown package latest", ["without !latest  1"]),
        ("hdf5 lates-*", "Unknown package lates-*", ["without lates-*  1"]),
        ("hdf5 zlib os=x | latest", "Unknown package latest", []),
        ("hdf5 h5p@1.0", "Unknown package h5p. Did you mean h5py?",
         ["h5py instead of h5p  2", "without h5p"]),
        ("hdf5 or zlib", "Unknown package or. For either, write |", ["without or  3"]),
        ("hdf5 with foo", "Unknown package with. Write + before a variant, and % or ^ before a"
         " dependency", ["without with and foo  1"]),
        ("zlib 1.0 other", "Unknown package 1.0. Did you mean @1.0?", ["without 1.0 and"]),
        ("zlib instaled", "Unknown package instaled. Did you mean installed?", ["without"]),
        ("zlib compiler", "Unknown package compiler. Did you mean compiler=?", ["without"]),
        ("zlib shared", "Unknown package shared. Did you mean +shared?",
         ["+shared instead of shared  2"]),
    ],
)  # fmt: skip
def test_an_unknown_word_is_not_a_second_package(
    program: Program, hdf5: tuple[str, str], words: str, sentence: str, ways: list[str]
) -> None:
    result = program("find", *hdf5, "--hashes", *words.split(), code=ExitCode.NOTHING, stdout="")
    first, *others = answer_lines(result.stderr)
    assert first == f"spackscope: {sentence}"
    assert [other.strip()[: len(way)] for other, way in zip(others, ways, strict=False)] == ways


@pytest.mark.parametrize(
    ("query", "count", "remark"),
    [
        ("h* zlib", 5, ""),
        ("mpi hdf5", 2, "mpi is a virtual package, provided here by openmpi\n"),
        ("hdf5 gcc", 1, "gcc is only a dependency here, and not listed"),
        ("hdf5 !gcc", 1, ""),
    ],
)
def test_known_packages_are_alternatives(
    program: Program, hdf5: tuple[str, str], query: str, count: int, remark: str
) -> None:
    found = program("find", *hdf5, "--hashes", query)
    assert (found.returncode, len(found.stdout.split())) == (ExitCode.FOUND, count)
    assert remark in found.stderr
    assert bool(remark) or " gcc is" not in found.stderr


@pytest.mark.parametrize("command", ["show", "needs", "why", "stats os"])
def test_every_command_with_a_query_names_an_unknown_word(
    program: Program, hdf5: tuple[str, str], command: str
) -> None:
    for query in ("hdf5 latest", "hdf5@1.0 latest@1.0"):
        result = program(*command.split(), *query.split(), *hdf5, code=ExitCode.NOTHING)
        assert answer_lines(result.stderr)[0] == "spackscope: Unknown package latest"


def test_a_variant_that_is_a_virtual_is_proposed_as_a_dependency(
    program: Program, hdf5: tuple[str, str]
) -> None:
    result = program("find", *hdf5, "hdf5 mpi=openmpi", code=ExitCode.NOTHING)
    first, *others = answer_lines(result.stderr)
    assert first.endswith("No hdf5 has the variant mpi=openmpi. Did you mean %mpi=openmpi?")
    assert "  %mpi=openmpi instead of mpi=openmpi  1" in others
    program("find", *hdf5, "h5py mpi=openmpi", says="Did you mean ^mpi=openmpi?")


def test_a_column_has_the_name_of_its_condition_too(program: Program) -> None:
    words = ("find", "-f", "sample", "py-build", "--csv", "--columns")
    assert program(*words, "stack,state").stdout == program(*words, "stacks,states").stdout

"""What is pasted: spec strings as Spack spells them, requirements, and command lines."""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Compiler, Spec
from spackscope.model.core.text import clean, is_clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.lexer import DEPENDENCY, HASH, NAME, PAIR, SPACE, VARIANT, tokens
from spackscope.model.query.lexer import VERSION as VERSION_TOKEN
from spackscope.model.query.parser import MAX_QUERY_LENGTH, parse
from spackscope.model.report.paste import (
    FROM_STDIN,
    WITHOUT_SECRETS,
    ViewCommand,
    install_command,
    spec_requirement,
    spec_string,
    view_command,
)
from spackscope.model.report.writers import markdown_text
from spackscope.model.sources.session import Session
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import ZLIB, in_format, node
from tests.builders.pages import PAGES, SAMPLE_PAGES
from tests.builders.spack import SPACK_DATA, database, installs
from tests.examples import examples
from tests.hostile import MARKUP, any_text
from tests.model.report.test_detail import SPEC as FULL_SPEC

SPEC = replace(FULL_SPEC, compiler="gcc@13.2.0", namespace="builtin")
SHORT = replace(SPEC, compiler="none", platform="", os="", target="", variants=())
GCC_13 = Compiler("gcc", "13.2.0", ("c", "cxx"))
BUILD = replace(
    SPEC,
    variants=("+mpi", "api=default", "patches=0123456789abcdef", "~cxx"),
    compilers=(Compiler("gcc", "13.2.0", ("c", "fortran")),),
)


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


def test_a_spec_is_spelled_as_spack_1_prints_it() -> None:
    spec = replace(SPEC, flags=("cflags=-O2 -g", "ldflags=-static"), compilers=(GCC_13,))
    at = "platform=linux os=ubuntu24.04 target=x86_64_v3"

    assert spec_string(spec) == (
        "hdf5@1.14.5 cflags='-O2 -g' ldflags=-static ~cxx+mpi api=default build_type=Release"
        f" libs:=shared,static {at} %c,cxx=gcc@13.2.0"
    )
    assert spec_string(SPEC) == (
        f"hdf5@1.14.5~cxx+mpi api=default build_type=Release libs:=shared,static {at} %gcc@13.2.0"
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "@1.14.5"),
        ({"version": "", "compiler": "gcc"}, " %gcc"),
        ({"compilers": (Compiler("gcc"),)}, "@1.14.5 %gcc"),
        ({"namespace": "ncar.hpcd"}, "@1.14.5 namespace=ncar.hpcd"),
        ({"namespace": ""}, "@1.14.5"),
        ({"variants": ("+mpi", "~mpi", "k=1", "+k", "k=2")}, "@1.14.5+mpi k=1"),
        (
            {
                "compilers": (
                    Compiler("gcc", "13.2.0", ("fortran",)),
                    Compiler("intel-oneapi-compilers", "2024.2.1", ("sycl",)),
                    Compiler("llvm", "18.1.3", ("c", "cxx")),
                )
            },
            "@1.14.5 %fortran=gcc@13.2.0 %sycl=oneapi@2024.2.1 %c,cxx=clang@18.1.3",
        ),
        *(
            ({"version": version}, expected)
            for version, expected in (
                ("git.feature/foo=1.2", "@git.feature/foo=1.2"),
                ("a" * 40 + "=1.2", "@" + "a" * 40 + "=1.2"),
                ("2025-08-12", "@2025-08-12"),
                *((version, "") for version in ("a" * 40, "git.main", "1.2:", "1.2-", "%s it's")),
            )
        ),
        *(
            ({"variants": (variant,)}, f"@1.14.5 {expected}")
            for variant, expected in (
                ("languages:='c,c++'", "languages:='c,c++'"),
                ("note=it's", 'note="it\'s"'),
                ('note="it\'s"', 'note="it\'s"'),
                ("libs=shared,static", "libs=shared,static"),
                ("dev_path=/tmp/a b", "dev_path='/tmp/a b'"),
                ("dev_path=/tmp/[a]", "dev_path='/tmp/[a]'"),
                ("patches=0f6940d,3e6448a", "patches=0f6940d,3e6448a"),
                ("patches:=" + "0f6940dd" * 8 + "," + "b231fccd" * 8, "patches=0f6940d,b231fcc"),
            )
        ),
    ],
)
def test_what_spack_parses_is_written_and_the_rest_left_out(
    fields: dict[str, Any], expected: str
) -> None:
    assert spec_string(replace(SHORT, **fields)) == f"hdf5{expected}"


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
    "variant",
    [
        *("plain", "empty=", "a b=c", "=v", "+", "k=back\\slash", "k='$(id)", 'k="a,b"'),
        *("k='say \"it\"'", "k='\"it\" says'", "k=\x1b[31m", "os=linux"),
    ],
)
def test_what_spack_cannot_read_is_left_out(variant: str) -> None:
    assert spec_string(replace(SHORT, variants=(variant,))) == "hdf5@1.14.5"


@pytest.mark.parametrize("name", ["", "a b", "; rm -rf ~", "[red", "it's", "ä"])
def test_the_hash_replaces_a_name_that_no_package_can_have(name: str) -> None:
    assert spec_string(replace(SHORT, package=name)) == f"/{SPEC.hash}@1.14.5"
    too_long = replace(SHORT, variants=("k=" + "v" * MAX_QUERY_LENGTH,))
    assert spec_string(too_long) == f"/{SPEC.hash}"


@pytest.mark.parametrize(
    "source",
    [
        *(SAMPLE_PAGES, PAGES, SPACK_DATA / "spack0.index.json.gz"),
        *(SPACK_DATA / name for name in ("mirror-v2", "mirror-v3", "install-tree-1.2")),
        pytest.param(SPACK_DATA / "spack1.index.json.gz", marks=pytest.mark.exhaustive),
    ],
    ids=lambda source: Path(source).name,
)
def test_every_spec_string_finds_its_spec_and_those_alike(source: Path | str) -> None:
    catalog = catalog_of(source, dependency_only=True)
    assert_each_is_found(catalog)
    by_string = defaultdict(set)
    for text, spec in spelled(catalog) if catalog.lists_dependencies else ():
        said = spec.package, spec.version, spec.flags, spec.namespace, spec.compilers
        by_string[text].add((*said, spec.platform, spec.os, spec.target, spec.variants))
    assert [text for text, said in by_string.items() if len(said) > 1] == []


def test_every_spec_string_of_pages_finds_its_spec(mixed: Catalog) -> None:
    assert_each_is_found(mixed)


def test_a_compiler_has_what_the_document_says_of_it(tmp_path: Path) -> None:
    catalog = catalog_of_nodes(tmp_path, node())
    assert string_of(catalog).endswith(" %c,cxx=gcc"), "it is absent, and has no version"
    assert_each_is_found(catalog)
    catalog = catalog_of_nodes(tmp_path, in_format(4, node()), version="7")
    assert string_of(catalog).endswith(" %gcc@13.2.0"), "an old database states it"
    assert_each_is_found(catalog)


def test_hostile_text_is_left_out_and_the_spec_found(hostile: Catalog) -> None:
    for said, _ in spelled(hostile):
        assert is_clean(said)
        kinds = {token.kind for token in tokens(said)}
        assert kinds <= {NAME, VERSION_TOKEN, VARIANT, PAIR, HASH, DEPENDENCY, SPACE}
        assert shlex.split(said)
    assert_each_is_found(hostile)


def test_the_command_installs_this_binary_and_builds_nothing() -> None:
    assert install_command(SPEC) == f"spack install --cache-only /{SPEC.hash}"
    for no_hash in ("", "abc", SPEC.hash + "\n", "; rm -rf ~", SPEC.hash.upper()):
        with pytest.raises(AssertionError):
            install_command(replace(SPEC, hash=no_hash))


def required(text: str) -> dict[str, Any]:
    """Read packages.yaml, and check it as the schema of Spack 0.22 to 1.2 does."""
    (packages,) = yaml.safe_load(text).values()
    assert text.startswith("packages:\n")
    for name, settings in packages.items():
        assert re.fullmatch(r"\w[\w-]*", name), "schema/packages.py: the name of a package"
        assert settings.keys() == {"require"}
        assert isinstance(settings["require"], list)
        for group in settings["require"]:
            strings = [group] if isinstance(group, str) else group["any_of"]
            assert isinstance(group, str) or group.keys() == {"any_of"}
            for string in strings:
                # Spack's own syntax has no negation, no alternatives and no keys of columns.
                assert parse(string)
                assert not re.search(r"[|!]", string)
    return {name: settings["require"] for name, settings in packages.items()}


def test_one_of_several_builds_of_a_package_is_required() -> None:
    # Without its name, its patches and its platform.
    alone = "@=1.14.5 ~cxx+mpi api=default os=ubuntu24.04 target=x86_64_v3 %c,fortran=gcc@13.2.0"
    assert required(spec_requirement([BUILD])) == {"hdf5": [alone]}
    other = replace(BUILD, version="1.14.6")
    zlib = replace(BUILD, package="zlib", variants=())
    made = required(spec_requirement([BUILD, other, zlib, BUILD]))
    (group,) = made["hdf5"]
    assert [string.split()[0] for string in group["any_of"]] == ["@=1.14.5", "@=1.14.6"]
    assert len(made["zlib"]) == 1


@pytest.mark.parametrize(
    ("fields", "name", "start", "end"),
    [
        ({"compiler": "oneapi@2023.1", "compilers": None}, "hdf5", "@=1.14.5 ", "%oneapi@2023.1"),
        ({"compiler": "gcc@11.4.0", "compilers": None}, "hdf5", "@=1.14.5 ", "%gcc@11.4.0"),
        ({"compiler": "none", "compilers": None}, "hdf5", "@=1.14.5 ", "x86_64_v3"),
        ({"version": "git.main=1.15"}, "hdf5", "@git.main=1.15 ", "=gcc@13.2.0"),
        *(({"package": name}, name, "@=1.14.5 ", "=gcc@13.2.0") for name in ("on", "y", "7zip")),
    ],
)
def test_names_are_those_of_the_document_and_of_yaml(
    fields: dict[str, Any], name: str, start: str, end: str
) -> None:
    ((required_of, (text,)),) = required(spec_requirement([replace(BUILD, **fields)])).items()
    assert (required_of, text[: len(start)]) == (name, start)
    assert text.endswith(end)


def command(*sources: str, query: str = "", **options: object) -> ViewCommand:
    environ = {"SPACKSCOPE_HOST": str(options.pop("environ", ""))}
    session = Session(environ, **options)  # type: ignore[arg-type]
    return view_command(sources, parse(query, packages=()), session)


def test_paths_are_absolute_and_everything_odd_is_quoted(here: Path) -> None:
    odd = f"""'{here}/it'"'"'s here'"""
    dash, hash_sign = shlex.quote(f"{here}/-x"), f"'{here}/cache_spack_io_index.json#v1'"
    assert command("it's here", "public:v1,v2", "sample") == ViewCommand(
        f"spackscope find -f {odd} -f public:v1,v2 -f sample --hashes"
    )
    text = command("-x", "cache_spack_io_index.json#v1", "spack:site", "file:///m").text
    paths = f"-f {dash} -f {hash_sign} -f spack:site -f file:///m"
    assert text == f"spackscope find {paths} --hashes"


@pytest.mark.parametrize(
    ("query", "quoted"),
    [
        ("hdf5@1.14: +mpi", "'hdf5@1.14: +mpi'"),
        ("!os=a", "'!os=a'"),
        ("cflags='-O2 -g'", """'cflags='"'"'-O2 -g'"'"''"""),
        ("mpi", "any=mpi"),
        ("stack='a$b`c'", """'stack='"'"'a$b`c'"'"''"""),
    ],
)
def test_the_query_is_one_word(query: str, quoted: str) -> None:
    assert command("public", query=query).text == f"spackscope find -f public {quoted} --hashes"


def test_options_that_change_the_answer_are_written() -> None:
    made = command("public", query="fits", include_dependency_only=True, host="target=zen3 os=a")
    assert made.text == "spackscope find -f public --all --host 'target=zen3 os=a' fits --hashes"
    of_variable = command("public", environ="zen4").text
    assert of_variable == "spackscope find -f public --host zen4 --hashes"


def test_secrets_are_left_out_and_the_remark_says_so() -> None:
    without = ViewCommand("spackscope find -f 'https://example.org/m?…' --hashes", WITHOUT_SECRETS)
    assert command("https://ann:secret@example.org/m?token=abc") == without
    assert command("-") == ViewCommand("spackscope find -f - --hashes", FROM_STDIN)


def test_a_path_that_looks_like_a_url_stays_if_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "a:b@c"
    path.touch()
    line = shlex.join(("spackscope", "find", "-f", str(path), "--hashes"))
    assert command(str(path)) == ViewCommand(line)


# It would link what ends like a domain, unlike GitHub.
GITHUB = MarkdownIt("gfm-like", {"html": True}).disable("linkify")

LETTERS = "`|*_~[]()<>!#@-+$&%·→.,:;' a1é日"
parts = st.sampled_from([*MARKUP, *LETTERS, "**", "__", "1.", "> ", "www."])
texts = (st.lists(parts, max_size=6).map("".join) | any_text).map(clean).filter(str.strip)


@given(texts)
@examples(500)
def test_a_text_is_shown_letter_by_letter(text: str) -> None:
    written = markdown_text(text)
    cell = written.replace("|", "\\|")
    for shape in (f"**{written}**", f"*{written}*", f"| x |\n| --- |\n| {cell} |"):
        *_, shown = (token for token in GITHUB.parse(shape) if token.type == "inline")
        shown_parts = shown.children or []
        kinds = {part.type for part in shown_parts} - {"text", "code_inline"}
        assert kinds <= {"strong_open", "strong_close", "em_open", "em_close"}
        assert bool(kinds) is shape.startswith("*")
        assert "".join(part.content for part in shown_parts).split() == text.split()


def test_only_words_that_could_be_markup_are_code() -> None:
    assert markdown_text("98 of 104 cached · 6 missing (2 needed by others)") == (
        "98 of 104 cached · 6 missing (2 needed by others)"
    )
    assert markdown_text("hdf5@1.14.6: 94 % by @ann #12, as py_x") == (
        "`hdf5@1.14.6:` 94 % by `@ann #12,` as `py_x`"
    )

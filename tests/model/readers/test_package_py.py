"""Recipes are read without being run; what cannot be known so is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Deprecation, Fix, Licence, Restriction
from spackscope.model.readers.package_py import ClassName, read_recipe
from tests.builders.recipes import recipe


def entries(body: str, before: str = "") -> list[object]:
    """Return what the class of a recipe says of versions, and why something cannot be read."""
    (class_,) = read_recipe(recipe("zlib", body, before=before).encode()).values()
    known = (str, Deprecation, Restriction, Licence, Fix)
    return [each if isinstance(each, known) else each[1] for each in class_.entries if each]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'@1.1', reason='vuln'", Deprecation("@1.1", "vuln", "low", ())),
        (
            "spec='@:1 +ssl', reason='vuln', severity='high', labels=['CVE-1', 'GHSA-2'], msg='x'",
            Deprecation("@:1 +ssl", "vuln", "high", ("CVE-1", "GHSA-2"), "x"),
        ),
        ("reason='rename', severity='medium'", Deprecation("", "rename", "medium", ())),
        ("'@1', reason='vuln', when='+ssl'", Deprecation("@1 +ssl", "vuln", "low", ())),
    ],
)
def test_a_deprecation_of_spack_1_3_has_all_it_says(text: str, found: Deprecation) -> None:
    assert entries(f"deprecated({text})") == [found]


def test_a_patch_says_what_it_fixes_and_of_which_package() -> None:
    digest = "0a" * 32
    body = f"""
        patch("a.patch", when="@1", fixes=["CVE-1", "CVE-2"])
        with default_args(fixes=("CVE-3",)):
            patch("https://x/b", sha256="{digest}")
        depends_on(
            "builtin.xz-utils@1 +x",
            patches=[patch("c.patch"), patch("d.patch", fixes=["CVE-4"])],
        )
        patch("e.patch", when=False, fixes=["CVE-5"])
        patch(unknown())
        """
    assert entries(body) == [
        Fix(("CVE-1", "CVE-2"), "a.patch"),
        Fix(("CVE-3",), "https://x/b", digest),
        Fix(("CVE-4",), "d.patch", package="xz-utils"),
    ]


def test_what_must_not_be_redistributed_is_read_with_its_conditions() -> None:
    body = """
        redistribute(source=False, binary=False)
        redistribute(source=False, when="@2")
        redistribute(binary=False, when=False)
        with when("+cuda"), when("@2:"):
            with default_args(binary=False):
                redistribute(when="target=x86_64")
                redistribute(binary=None)
        redistribute(binary=is_free())
        """
    why = "cannot be known without running the recipe: redistribute(binary=is_free())"
    restricted = [Restriction(""), Restriction("+cuda @2: target=x86_64")]
    assert entries(body) == [*restricted, why]


def test_a_oneapi_package_of_spack_before_1_0_is_restricted() -> None:
    text = b"class IntelOneapiMkl(IntelOneApiLibraryPackage):\n    version('2024.2.2')"
    assert read_recipe(text)["IntelOneapiMkl"].entries[0] == Restriction("")


def test_blocks_apply_to_what_is_in_them() -> None:
    body = """
        with when("+ssl"), default_args(reason="vuln", severity="high"):
            deprecated("@1")
        deprecated("@2", reason="retired", when=False)
        version("1.0", deprecated=True)
        drop_version("1.0")
        drop_all_versions()
        """
    (class_,) = read_recipe(recipe("zlib", body).encode()).values()
    own = Deprecation("@=1.0")
    assert class_.entries == (
        Deprecation("@1 +ssl", "vuln", "high", ()),
        *(own, own.spec, None),
    )


def test_expressions_are_those_of_conditions() -> None:
    body = """
        old = not False and "1" in {"1", "2"} and 1 < 2 < 3
        for version_ in ["1", "2", "3"][:-1]:
            version(version_ if old else "0", deprecated=old or unknown())
        """
    assert entries(body) == [Deprecation("@=1"), Deprecation("@=2")]


def test_a_block_that_is_unknown_applies_to_nothing_after_it() -> None:
    body = "with default_args(deprecated=True), unknown():\n    pass\nversion('1')"
    assert entries(body) == ["@=1"]


def test_bases_are_those_of_recipes() -> None:
    text = """\
from spack.pkg.builtin.boost import Boost as Old
from spack_repo.builtin.packages.hdf5 import package as hdf5
from ..zlib.package import Zlib
class Own(Package): pass
class New(Own, Old, hdf5.Hdf5, Zlib, spack.pkg.builtin.gcc.Gcc, CMakePackage): pass
"""
    assert read_recipe(text.encode())["New"].bases == (
        ClassName("", "", "Own"),
        ClassName("builtin", "boost", "Boost"),
        ClassName("builtin", "hdf5", "Hdf5"),
        ClassName("", "zlib", "Zlib"),
        ClassName("builtin", "gcc", "Gcc"),
    )


@pytest.mark.parametrize(
    "body",
    [
        "version('1', deprecated=os.environ['X'] == 'y')",
        "version(find_version(), deprecated=True)",
        "version('1', **facts_of('deprecated'))",
        "for v in read_versions():\n    version(v, deprecated=True)",
        "if has_gpu():\n    version('1', deprecated=True)",
        "with default_args(**defaults()):\n    version('1')",
        "with default_args(deprecated=is_old()):\n    version('1')",
        "with unknown():\n    version('1', deprecated=True)",
        "try:\n    version('1', deprecated=True)\nexcept OSError:\n    pass",
        "n = 1\nwhile n:\n    version('1', deprecated=True)\n    n = 0",
        "deprecated(spec_of(), reason='vuln')",
        "deprecated('@1', reason='vuln', labels='CVE-1')",
        "deprecated('@1', reason='vuln', severity='worst')",
        "x = old()\nversion('1', deprecated=x)",
        "patch(name(), fixes=['CVE-1'])",
        "patch('a', fixes='CVE-1')",
        "patch('https://x/a', fixes=['CVE-1'])",
        "depends_on('xz', patches=[patch(name(), fixes=['CVE-1'])])",
        "depends_on(xz(), patches=patch('a', fixes=['CVE-1']))",
        "if has_gpu():\n    patch('a', fixes=['CVE-1'])",
        # Forms that hardly any recipe uses.
        "[version(v, deprecated=True) for v in ['1']]",
        "def add(v):\n    version(v, deprecated=True)\nadd('1')\nadd('2')",
        "for v in ['1']:\n    pass\nelse:\n    version(v, deprecated=True)",
        "version('1' + '.2', deprecated=True)",
        # What may have been changed by what is not evaluated.
        "x = ['1']\ndef add():\n    x.append('2')\nadd()\n"
        "for v in x:\n    version(v, deprecated=True)",
        "x = ['1']\nx.sort()\nfor v in x:\n    version(v, deprecated=True)",
        "x = {'1': True}\nx['1'] |= old()\nversion('1', deprecated=x['1'])",
        "x = ['1']\nx += ['2']\nfor v in x:\n    version(v, deprecated=True)",
        "x = {'1': 2}\ndel x['1']\nfor v in x:\n    version(v, deprecated=True)",
        # Values of other types.
        "a, b = 5\nversion(a, deprecated=True)",
        "for v in 5:\n    version(v, deprecated=True)",
        "version('1', **5, deprecated=True)",
        "version(None, deprecated=True)",
        "deprecated('@1', reason='vuln', labels=5)",
        "deprecated('@1', reason=[], labels=[5])",
        "with when(5):\n    deprecated('@1', reason='vuln')",
    ],
)
def test_what_depends_on_more_is_named(body: str) -> None:
    (why,) = entries(body)
    assert str(why).startswith("cannot be known without running the recipe: ")


def test_a_class_has_none_of_what_others_have_or_change() -> None:
    text = """\
old = "1"
class Builder(Package):
    old = "2"
    class Facts:
        version("3", deprecated=True)
    version(old, deprecated=True)
class Zlib(Package):
    version(old, deprecated=True)
"""
    classes = read_recipe(text.encode())
    assert classes["Builder"].entries == (Deprecation("@=2"),)
    assert classes["Zlib"].entries == (Deprecation("@=1"),)


def test_what_a_class_may_have_changed_is_not_known_after_it() -> None:
    text = """\
old = "1"
class Builder(Package):
    old = find_version()
class Zlib(Package):
    version(old, deprecated=True)
"""
    (entry,) = read_recipe(text.encode())["Zlib"].entries
    assert "cannot be known without running the recipe: version(old" in str(entry)


def test_what_deprecates_nothing_is_left_out() -> None:
    body = """
        if has_gpu():
            version("1", sha256="a")
        for v in read_versions():
            version(v)
        version(find_version())
        depends_on("zlib", when=unknown())
        """
    assert entries(body) == []


HOSTILE = {
    "text": "x = 'aa'\n" + "x = '{0}{0}'.format(x)\n" * 60 + "version(x, deprecated=True)",
    "shared lists": "x = ['a']\n" + "x = [x, x]\n" * 60 + "version(str(x), deprecated=True)",
    "compared": "x = y = ['a']\n"
    + "x = [x, x]\ny = [y, y]\n" * 60
    + "version('1', deprecated=x == y)",
    "width": "version('{:>999999999}'.format('1'), deprecated=True)",
    "width of a value": "version('{:{}}'.format('1', 999999999), deprecated=True)",
    "spelled": f"x, y = {'x' * 9000!r}, {'{0}' * 3000!r}\nfor a in range(3000):\n"
    "    version(y.format(x), deprecated=True)",
    "parts": "version('{0.__class__.__mro__}'.format('1'), deprecated=True)",
    "attributes": "version('1'.__class__.__name__, deprecated=True)",
    "loops": "for a in range(9999):\n    for b in range(9999):\n        c = b\n"
    "version(c, deprecated=True)",
    "items": "x = range(9999999999)\nversion(x[0], deprecated=True)",
    "arguments": "for a in range(9999):\n    version(f(), deprecated=True"
    + "".join(f", a{n}=1" for n in range(20_000))
    + ")",
    "classes": "".join(f"class A{n}: pass\n" for n in range(9000)),
    "targets": "for a in range(9999):\n    " + "a = " * 20_000 + "a\nversion(a, deprecated=True)",
    "numbers": f"version(str(0x{'f' * 99_999}), deprecated=True)",
    "recursion": "f('1')\nversion(f('1'), deprecated=True)",
    "forgotten": "for a in range(9999):\n    if unknown():\n"
    + "        version('1', deprecated=True)\n" * 999,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_value_takes_all_time_or_memory(name: str) -> None:
    try:
        (why,) = entries(HOSTILE[name], before="def f(x):\n    return f(x)\n")
    except Unreadable as error:
        why = error
    assert str(why).startswith(("cannot be known", "it takes too many steps to evaluate"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"class Zlib(Package:\n    pass\n", "line 1: it is not Python: "),
        (b"\x7fELF\x00\x01deprecated", "it is not Python"),
        (b"\xff\xfe\x00", "it is not Python"),
        (b"x = " + b"(" * 100_000, "it is not Python"),
        (b"x = " + b"-" * 100_000 + b"1", "not Python, or nested too deeply"),
        (b"x = " + b"a." * 50_000 + b"b", "nested too deeply"),
        (b"x = " + b"a()" * 70_000, "nested too deeply"),
        (b"# coding: utf-7\nx = +" + b"AC4-" * 9, "it is not Python"),
    ],
)
def test_what_is_not_python_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_recipe(data)
    assert why in str(caught.value)


def test_nothing_is_run(tmp_path: Path) -> None:
    path = tmp_path / "ran"
    body = f"""
        open({str(path)!r}, "w")
        [open({str(path)!r}, "w") for _ in "a"]
        version(open({str(path)!r}, "w").name, deprecated=True)
        version(str(__import__("os").system("touch {path}")), deprecated=True)
        """
    assert len(entries(body, before=f"open({str(path)!r}, 'w')")) == 2
    assert not path.exists()


def test_licences_are_read_with_their_conditions() -> None:
    body = r"""
        license("MIT", checked_by="ada")
        license("GPL-2.0-only", when="@:1")
        license("Zlib", when=False)
        with when("+cuda"):
            license("\x1b[31m[b]custom", when="@2:")
        license(find_licence())
        license(b"MIT")
        """
    assert entries(body) == [
        Licence("", "MIT"),
        Licence("@:1", "GPL-2.0-only"),
        Licence("+cuda @2:", "\x1b[31m[b]custom"),
        "cannot be known without running the recipe: license(find_licence())",
        'cannot be known without running the recipe: license(b"MIT")',
    ]


def test_versions_of_a_recipe_that_deprecates_none_need_no_values() -> None:
    assert entries("license('MIT')\nversion('1', **facts())") == [Licence("", "MIT")]

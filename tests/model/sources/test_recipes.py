"""Package repositories are found as Spack finds them, and read once."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Licence, RecipeRoot
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.sources.recipes import Recipes, read_recipes
from tests.builders import SPACK_DATA
from tests.builders.recipes import commit, recipe, recipes, write_repository

DEPRECATED = json.loads((SPACK_DATA / "deprecated_versions.json").read_text())
"""The deprecated versions of the recipes, as Spack 1.2.0.dev0 has them: it ran the recipes."""


def read(*paths: Path | str, environ: dict[str, str] | None = None) -> Recipes:
    return read_recipes([RecipeRoot(str(path)) for path in paths], environ or {})


def versions(found: Recipes) -> dict[str, list[str]]:
    """Return the deprecated versions by package, as Spack's answer has them."""
    by_package = {package: list[str]() for package in found.packages}
    for package, each in found.deprecations.items():
        by_package[package] = sorted(its.spec.removeprefix("@=") for its in each)
    return by_package


def test_the_versions_are_those_of_spack(tmp_path: Path) -> None:
    found = read(write_repository(tmp_path / "site", recipes()))
    assert (versions(found), found.problems) == (DEPRECATED, ())


def test_names_of_the_first_layout_are_those_of_directories(tmp_path: Path) -> None:
    texts = {
        name: text.replace("spack_repo.site.packages.", "spack.pkg.site.").replace(
            ".package import PyT", " import PyT"
        )
        for name, text in recipes().items()
    }
    texts["cmake_gui"] = texts["cmake_gui"].replace(".cmake.package import", ".cmake import")
    found = read(write_repository(tmp_path / "site", texts, api="v1"))
    assert (versions(found), found.problems) == (DEPRECATED, ())


def test_a_bare_repository_has_those_of_its_newest_commit(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write_repository(tree / "repos" / "spack_repo" / "builtin", recipes())
    path = tree / "repos" / "spack_repo" / "builtin" / "packages" / "large" / "package.py"
    path.parent.mkdir()
    path.write_text("# deprecated\n" * 30_000)
    (path.parent.parent / "linked").mkdir()
    (path.parent.parent / "linked" / "package.py").symlink_to("../expat/package.py")
    other = path.parent.parent / "other" / "package.py"
    write_repository(other, {})
    commit(other, tmp_path / "other.git")
    found = read(commit(tree, tmp_path / "bare.git"))
    expected = {**DEPRECATED, "large": [], "linked": [], "other": []}
    assert versions(found) == expected
    places = f"{tmp_path}/bare.git/repos/spack_repo/builtin/packages"
    assert sorted(map(str, found.problems)) == [
        f"{places}/large/package.py: it has 390,000 bytes; at most 262,144 are read",
        f"{places}/linked/package.py: is a link, which is not followed",
        f"{places}/other/package.py: is a link, which is not followed",
    ]
    assert found.unread == {"large", "linked", "other"}


@pytest.mark.parametrize("is_bare", [False, True])
def test_a_build_system_restricts_the_packages_that_use_it(tmp_path: Path, is_bare: bool) -> None:
    # As IntelOneApiPackage of build_systems/oneapi.py in spack-packages.
    tree = tmp_path / "tree"
    site = tree / "repos" / "spack_repo" / "builtin"
    imported = "from spack_repo.builtin.build_systems.oneapi import Library"
    mkl = recipe("mkl", "license('x')", before=imported, base="Library")
    texts = {"mkl": mkl + "\n# deprecated", "zlib": recipe("zlib", "license('x')")}
    write_repository(site, texts, namespace="builtin")
    (site / "build_systems").mkdir()
    system = (
        "class OneApi(Package):\n    redistribute(binary=False)\nclass Library(OneApi):\n    pass"
    )
    path = site / "build_systems" / "oneapi.py"
    path.write_text(system)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = read(commit(tree, tmp_path / "bare.git") if is_bare else tree, environ=environ)
    assert (found.restricted, found.problems) == ({"mkl": [""]}, ())
    if not is_bare:
        path.write_text("class Library(Package):\n    pass")
        assert read(tree, environ=environ).restricted == {}
        path.write_text("class Library(Package):\n    redistribute(binary=f())")
        assert read(tree, environ=environ).unread == {"mkl"}


def test_an_index_says_where_repositories_are(tmp_path: Path) -> None:
    (tmp_path / "spack-repo-index.yaml").write_text("repo_index:\n  paths:\n  - a/site\n  - 'b'\n")
    old = recipe("zlib", "version('1', deprecated=True)")
    write_repository(tmp_path / "a" / "site", {"zlib": old, "gcc": recipe("gcc", "pass")})
    write_repository(tmp_path / "b", {"zlib": recipe("zlib", "pass"), "hdf5": old})
    found = read(tmp_path)
    # The first that has a package counts.
    assert versions(found) == {"zlib": ["1"], "gcc": [], "hdf5": []}
    assert found.places == (f"{tmp_path}/a/site/packages", f"{tmp_path}/b/packages")


def test_a_recipe_follows_those_of_other_repositories(tmp_path: Path) -> None:
    base = recipe("zlib", "version('1', deprecated=True)\nversion('2', deprecated=True)")
    own = recipe(
        "zlib",
        "version('2', sha256='a')",
        before="from spack_repo.builtin.packages.zlib.package import Zlib as Base",
        base="Base",
    )
    site = write_repository(tmp_path / "site", {"zlib": own})
    builtin = write_repository(tmp_path / "builtin", {"zlib": base}, namespace="builtin")
    assert versions(read(site, builtin)) == {"zlib": ["1"]}
    assert versions(read(builtin, site)) == {"zlib": ["1", "2"]}


def test_what_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    texts = {
        "broken": "class Broken(Package:\n    deprecated",
        "binary": "deprecated\0",
        "dynamic": recipe("dynamic", "version(f(), deprecated=True)"),
        "follows": recipe(
            "follows", "pass", before="from ..dynamic.package import Dynamic", base="Dynamic"
        ),
        "lists": recipe(
            "lists",
            "for v in Broken.versions:\n    version(v)",
            before="from ..broken.package import Broken",
        ),
        "circle": recipe(
            "circle",
            "version('1', deprecated=True)",
            before="from ..circle.package import Circle as Base",
            base="Base",
        ),
        "zlib": recipe("zlib", "version('1', deprecated=True)"),
    }
    site = write_repository(tmp_path / "site", texts)
    packages = site / "packages"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "package.py").write_text(texts["zlib"])
    (packages / "away").symlink_to(tmp_path / "outside")
    (packages / "alias").symlink_to("zlib")
    (packages / "huge").mkdir()
    with open(packages / "huge" / "package.py", "wb") as file:
        file.truncate(100_000_000)
    (packages / "pipe").mkdir()
    os.mkfifo(packages / "pipe" / "package.py")
    (packages / "empty").mkdir()
    (packages / "lost").mkdir()
    (packages / "lost" / "package.py").symlink_to("nowhere")
    found = read(tmp_path / "none", site, tmp_path)
    problems = {
        # What is wrong with its syntax each Python says in its own words.
        re.sub("(?<=not Python).*", "", str(each).removeprefix(f"{packages}/"))
        for each in found.problems
    }
    assert {each.replace(str(tmp_path), "~") for each in problems} == {
        "~/none: there is no such directory; `spack repo update` fetches repositories",
        "~: is not a package repository: it has no repo.yaml",
        "away/package.py: is a link out of the repository",
        "huge/package.py: cannot be read: it has 100,000,000 bytes; at most 262,144 are read",
        "pipe/package.py: cannot be read: it is not a regular file",
        "broken/package.py: line 1: it is not Python",
        "binary/package.py: it is not Python",
        "dynamic/package.py: line 9: cannot be known without running the recipe: "
        "version(f(), deprecated=True)",
    }
    names = {"circle": ["1"], "zlib": ["1"], "alias": []}
    assert {name: each for name, each in versions(found).items() if name in names} == names
    assert found.unread == {
        "away",
        "huge",
        "pipe",
        "broken",
        "binary",
        "dynamic",
        "follows",
        "lists",
    }


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exec sleep 60", "git takes more than 0.2 s"),
        (
            "echo \"fatal: detected dubious ownership in repository at '/x'\" >&2; exit 128",
            "fatal: detected dubious ownership in repository at '/x'",
        ),
    ],
)
def test_git_that_hangs_or_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f"#!/bin/sh\n{script}\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    if "takes more" in why:
        monkeypatch.setattr("spackscope.model.sources.git.GIT_TIMEOUT", 0.2)
    site = write_repository(tmp_path / "site", {"zlib": recipe("zlib", "pass")})
    found = read(bare, site)
    assert [str(each) for each in found.problems] == [f"{bare}: {why}"]
    assert found.packages == {"zlib"}


def test_patches_that_fix_deprecations_have_the_digests_of_their_files(tmp_path: Path) -> None:
    texts = {
        "zlib": recipe("zlib", "patch('a.patch', fixes=['CVE-1'])"),
        "zlib_old": recipe(
            "zlib_old", "pass", before="from ..zlib.package import Zlib", base="Zlib"
        ),
        "hdf5": recipe(
            "hdf5", "depends_on('zlib', patches=patch('../hdf5/b.patch', fixes=['CVE-2']))"
        ),
        "xz": recipe("xz", "patch('none.patch', fixes=['CVE-3'])"),
        "away": recipe("away", "patch('/etc/passwd', fixes=['CVE-4'])"),
        "linked": recipe("linked", "patch('c.patch', fixes=['CVE-5'])"),
        "large": recipe("large", "patch('d.patch', fixes=['CVE-6'])"),
        "nul": recipe("nul", "patch('\\0', fixes=['CVE-7'])"),
    }
    site = write_repository(tmp_path / "site", texts)
    files = {"zlib/a.patch": b"+1", "hdf5/b.patch": b"+2", "large/d.patch": b"+" * 2**20 + b"1"}
    for name, data in files.items():
        (site / "packages" / name).write_bytes(data)
    (site / "packages" / "linked" / "c.patch").symlink_to("../nowhere")
    for root in (site, commit(site, tmp_path / "bare.git")):
        found = read(root)
        a, b = (sha256(data).hexdigest() for data in (b"+1", b"+2"))
        fixes = {package: sorted(its) for package, its in found.fixes.items()}
        assert fixes == {
            "zlib": sorted([(a, ("CVE-1",)), (b, ("CVE-2",))]),
            "zlib-old": [(a, ("CVE-1",))],
        }
        assert found.unread == {"xz", "away", "linked", "large", "nul"}
        reasons = {str(each) for each in found.problems}
        prefix = f"{root}/packages/large/package.py: the patch d.patch cannot be read"
        assert f"{prefix}: it has 1,048,577 bytes; at most 1,048,576 are read" in reasons
        assert len(reasons) == 5


def test_the_patch_of_a_derived_recipe_is_its_own_file_if_it_has_one(tmp_path: Path) -> None:
    """As `FilePatch` of lib/spack/spack/patch.py searches the classes in their order."""
    fixes = ("a", "b", "c")
    patches = "\n".join(f"patch('{name}.patch', fixes=['{name}'])" for name in fixes)
    before = "from spack_repo.builtin.packages.{0}.package import {1} as Base"
    texts = {
        "site": {"xz": recipe("xz", "pass", before=before.format("zlib", "Zlib"), base="Base")},
        "builtin": {
            "zlib": recipe("zlib", "pass", before=before.format("gzip", "Gzip"), base="Base"),
            "gzip": recipe("gzip", patches),
        },
    }
    roots = [write_repository(tmp_path / name, its, namespace=name) for name, its in texts.items()]
    for name in ("gzip/a", "gzip/b", "gzip/c", "zlib/b", "zlib/c"):
        (roots[1] / "packages" / f"{name}.patch").write_text(name)
    (roots[0] / "packages" / "xz" / "c.patch").write_text("xz/c")
    expected = {
        "gzip": ["gzip/a", "gzip/b", "gzip/c"],
        "zlib": ["gzip/a", "zlib/b", "zlib/c"],
        "xz": ["gzip/a", "zlib/b", "xz/c"],
    }
    found = read(*(commit(root, tmp_path / f"{root.name}.git") for root in roots))
    assert found.problems == ()
    assert found.fixes == read(*roots).fixes
    assert found.fixes == {
        package: tuple(
            (sha256(text.encode()).hexdigest(), (fix,))
            for fix, text in zip(fixes, files, strict=True)
        )
        for package, files in expected.items()
    }


def test_licences_and_homepages_are_those_of_the_first_repository(tmp_path: Path) -> None:
    base = "homepage = 'https://zlib.net'\nlicense('Zlib')\nlicense('MIT', when='@2:')"
    texts = {
        "zlib": recipe("zlib", base),
        "zlib_gui": recipe(
            "zlib_gui", "version('1')", before="from ..zlib.package import Zlib", base="Zlib"
        ),
        "bare": recipe("bare", "homepage = (\n    'https://bare.example'\n)"),
        "broken": recipe("broken", "license(find_licence())"),
        "long": recipe("long", f"license({'x' * 20_000!r})"),
    }
    first = write_repository(tmp_path / "first", texts)
    other = recipe("zlib", "homepage = 'https://other.example'\nlicense('GPL-2.0-only')")
    second = write_repository(tmp_path / "second", {"zlib": other}, namespace="second")
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for found in (read(first, second, environ=environ), read(first, second, environ=environ)):
        of_zlib = (Licence("", "Zlib"), Licence("@2:", "MIT"))
        assert found.licences == {"zlib": of_zlib, "zlib-gui": of_zlib}
        assert found.homepages == {"zlib": "https://zlib.net", "bare": "https://bare.example"}
        assert found.unread == {"broken", "long"}


def test_recipes_are_read_again_only_where_they_changed(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    old, new = (recipe("zlib", f"version('{n}', deprecated=True)") for n in "12")
    site = write_repository(tmp_path / "site", {"zlib": old})
    path = site / "packages" / "zlib" / "package.py"
    status = path.stat()
    assert versions(read(site, environ=environ)) == {"zlib": ["1"]}
    (kept,) = (tmp_path / "cache" / "spackscope").glob("recipes-*.json")
    kept.write_text(kept.read_text().replace("@=1", "@=5"))
    assert versions(read(site, environ=environ)) == {"zlib": ["5"]}
    # The size and the time that anybody can set do not hide a change.
    path.write_text(new)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert versions(read(site, environ=environ)) == {"zlib": ["2"]}
    # Whatever the file that is kept has become, the recipes are read.
    for text in ("", "[]", "{", "1", json.dumps({**json.loads(kept.read_text()), "packages": 1})):
        kept.write_text(text)
        assert versions(read(site, environ=environ)) == {"zlib": ["2"]}
    write_repository(site / "more", {})
    assert read(site, site / "more", environ=environ).packages == {"zlib"}


def test_recipes_are_read_again_where_their_repository_changed(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    follows = recipe("y", "pass", before="from spack_repo.b.packages.x import X", base="X")
    site = write_repository(tmp_path / "site", {"py_y": "", "y": follows}, namespace="a")
    base = {"x": recipe("x", "version('1', deprecated=True)")}
    other = write_repository(tmp_path / "other", base, namespace="a")
    found = read(site, other, environ=environ)
    assert (versions(found)["y"], "py-y" in found.packages) == ([], True)
    for name, new in (("site", "namespace: a\n  api: v1.0"), ("other", "namespace: b")):
        (tmp_path / name / "repo.yaml").write_text(f"repo:\n  {new}\n")
    found = read(site, other, environ=environ)
    assert (versions(found)["y"], "py_y" in found.packages) == (["1"], True)


def test_a_failure_of_a_moment_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    write_repository(tmp_path / "tree", {"zlib": recipe("zlib", "version('1', deprecated=True)")})
    bare = commit(tmp_path / "tree", tmp_path / "bare.git")
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text('#!/bin/sh\ncase "$*" in *ls-tree*) echo slow >&2; exit 1;; esac\n')
    git.write_text(git.read_text() + f'exec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
        assert [each.reason for each in read(bare, environ=environ).problems] == ["slow"]
    assert versions(read(bare, environ=environ)) == {"zlib": ["1"]}
    loop = tmp_path / "tree" / "packages" / "loop"
    loop.symlink_to("loop")
    assert "loop/package.py: cannot be read: " in str(*read(tmp_path / "tree").problems)


def test_thousands_of_recipes_and_classes_follow_each_other(tmp_path: Path) -> None:
    chain = "class C0: version('1', deprecated=True)\n"
    chain += "".join(f"class C{n}(C{n - 1}): pass\n" for n in range(1, 2000))
    texts = {"chain": f"{chain}class Chain(C1999): pass\n"}
    for n in range(600):
        texts[f"x{n}"] = recipe(
            f"x{n}",
            f"for v in X{n + 1}.versions:\n    version(v, deprecated=True)",
            before=f"from ..x{n + 1}.package import X{n + 1}",
        )
    texts["x600"] = recipe("x600", "version('2')", before="from ..x0.package import X0")
    found = read(write_repository(tmp_path / "site", texts))
    assert (found.problems, versions(found)["chain"]) == ((), ["1"])
    assert versions(found)["x0"] == versions(found)["x599"] == ["2"]


def test_a_stop_ends_the_reading_of_a_recipe(tmp_path: Path) -> None:
    loops = recipe("x", "for a in range(9000):\n    b = a\nversion(b, deprecated=True)")
    site = write_repository(tmp_path / "site", {"x": loops})
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        read_recipes([RecipeRoot(str(site))], {})


def test_a_stop_ends_the_reading(tmp_path: Path) -> None:
    site = write_repository(tmp_path / "site", recipes())

    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        read_recipes([RecipeRoot(str(site))], {})


NO_DIRECTORY = "there is no such directory; `spack repo update` fetches repositories"
NO_REPOSITORY = "is not a package repository: it has no repo.yaml"


@pytest.mark.parametrize(
    ("path", "places", "why"),
    [
        ("tree/\0", (), NO_DIRECTORY),
        ("tree", ("a\0b",), NO_REPOSITORY),
        ("bare.git", ("a\0b",), NO_REPOSITORY),
    ],
)
def test_a_path_with_a_nul_is_one_that_does_not_exist(
    path: str, places: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    write_repository(tmp_path / "tree" / "a", recipes())
    commit(tmp_path / "tree", tmp_path / "bare.git")
    found = read_recipes([RecipeRoot(f"{tmp_path}/{path}", places)], {})
    assert [problem.reason for problem in found.problems] == [why]

"""The configuration of the user's Spack is read as Spack reads it."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from spackscope.model.sources.spack_config import (
    ConfiguredMirror,
    ReuseRules,
    read_reuse_rules,
    read_spack_config,
)
from tests.builders.spack import SpackRoot

SITE = "spack/etc/spack/mirrors.yaml"
USER = "home/.spack/mirrors.yaml"

# As Spack 1.1 writes it.
INCLUDE = """\
    include:
      - name: "user"
        path: "~/.spack"
        optional: true
        when: '"SPACK_DISABLE_LOCAL_CONFIG" not in env'
      - name: "site"
        path: "$spack/etc/spack/site"
        optional: true
      - name: "system"
        path: "/etc/spack"
        optional: true
        when: '"SPACK_DISABLE_LOCAL_CONFIG" not in env'
    """


def mirror_file(name: str) -> str:
    return f"mirrors:\n  {name}: https://example.org\n"


def mirrors(environ: Mapping[str, str]) -> Mapping[str, ConfiguredMirror]:
    config = read_spack_config(environ)
    assert config is not None
    return {name: mirror for name, mirror in config.mirrors.items() if mirror.binary}


def problems(spack: SpackRoot) -> list[str]:
    return [str(problem) for problem in spack.config().problems]


def test_without_a_spack_there_is_no_configuration(tmp_path: Path) -> None:
    for environ in ({}, {"HOME": str(tmp_path), "PATH": str(tmp_path)}):
        environ["SPACK_SYSTEM_CONFIG_PATH"] = str(tmp_path / "no")
        assert read_spack_config(environ) is None


def test_a_spack_is_found_by_its_program(spack: SpackRoot, tmp_path: Path) -> None:
    spack.write(SITE, mirror_file("site"))
    spack.write(USER, mirror_file("user"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spack").symlink_to(spack.root / "bin" / "spack")
    del spack.environ["SPACK_ROOT"]

    path = f"/nowhere:{tmp_path / 'bin'}"
    assert list(mirrors({**spack.environ, "PATH": path})) == ["user", "site"]
    # Without a Spack there are still the user's own scopes.
    assert list(mirrors(spack.environ)) == ["user"]
    assert spack.config().trees == ()


PLATFORM = "linux" if sys.platform == "linux" else sys.platform
SCOPES = {
    "spack/etc/spack/defaults": "defaults",
    "system": "system",
    "spack/etc/spack": "site",
    "home/.spack": "user",
    f"home/.spack/{PLATFORM}": "platform",
    "other": "other",
}


OTHER = {"SPACK_USER_CONFIG_PATH": "{top}/other"}


@pytest.mark.parametrize(
    ("include", "changes", "names"),
    [
        ("", {}, "platform user site system defaults"),
        ("", {"SPACK_DISABLE_LOCAL_CONFIG": "1"}, "site defaults"),
        ("", OTHER, "other site system defaults"),
        (INCLUDE, {}, "site platform user system defaults"),
        (INCLUDE, {"SPACK_DISABLE_LOCAL_CONFIG": "1"}, "site defaults"),
        (INCLUDE, OTHER, "site other system defaults"),
    ],
)
def test_the_scopes_are_read_with_the_highest_first(
    include: str, changes: Mapping[str, str], names: str, spack: SpackRoot
) -> None:
    for path, name in SCOPES.items():
        spack.write(f"{path}/mirrors.yaml", mirror_file(name))
    if include:
        spack.write("spack/etc/spack/include.yaml", include)
    changed = {name: value.format(top=spack.root.parent) for name, value in changes.items()}
    assert list(mirrors({**spack.environ, **changed})) == names.split()


def test_scopes_are_merged_as_spack_does(spack: SpackRoot) -> None:
    lowest = """\
        mirrors:
          one: {url: https://lowest.example.org, view: lowest}
          three: https://three.example.org
        """
    low = """\
        mirrors:
          one: {url: https://one.example.org, binary: true, view: small}
          two: https://two.example.org
        """
    high = """\
        mirrors:
          two: https://other.example.org
          one: {url: https://mine.example.org}
        """
    spack.write("spack/etc/spack/defaults/mirrors.yaml", lowest)
    spack.write(SITE, low)
    for text, merged in (
        (high, ["two other ", "one mine small", "three three "]),
        # Two colons take nothing from below.
        (high.replace("one:", "'one:':"), ["two other ", "one mine ", "three three "]),
        (high.replace("mirrors:", "mirrors::"), ["two other ", "one mine "]),
    ):
        spack.write(USER, text)
        found = mirrors(spack.environ).values()
        hosts = [urlsplit(mirror.url).netloc.partition(".")[0] for mirror in found]
        assert [
            f"{mirror.name} {host} {mirror.view}"
            for mirror, host in zip(found, hosts, strict=True)
        ] == merged


def test_lists_follow_each_other_and_values_know_their_places(spack: SpackRoot) -> None:
    text = "packages:\n  zlib:\n    externals:\n    - {{spec: {}, prefix: {}, modules: [{}]}}\n"
    spack.write("spack/etc/spack/packages.yaml", text.format("zlib@1.2", "null", "zlib/1"))
    path = spack.write("home/.spack/packages.yaml", text.format("zlib@1.3", "/usr", "a, b"))
    found = spack.config()
    assert [(each.spec, each.prefix, each.modules) for each in found.externals] == [
        ("zlib@1.3", "/usr", ("a", "b")),
        ("zlib@1.2", "", ("zlib/1",)),
    ]
    ((name, zlib),) = found.scopes.section("packages").items()
    spec = zlib["externals"][0]["spec"]
    assert (name, name.file, name.line) == ("zlib", str(path), 2)
    assert (spec, spec.file, spec.line) == ("zlib@1.3", str(path), 4)


def test_what_is_fetched_from_is_what_counts(spack: SpackRoot) -> None:
    spack.environ |= {"CACHE_ID": "ada", "CACHE_SECRET": "s3cret"}
    spack.write(
        USER,
        """\
        mirrors:
          split:
            push: s3://bucket/push
            fetch:
              url: s3://bucket/fetch
              profile: site
              endpoint_url: https://s3.example.org
              access_pair: {id_variable: CACHE_ID, secret_variable: CACHE_SECRET}
              view: e4s
          short: {url: https://x.example.org, fetch: https://y.example.org, access_token: null}
          sources: {url: https://mirror.spack.io, binary: false}
          empty: {source: true}
          none: null
        """,
    )

    configured = mirrors(spack.environ)

    assert list(configured) == ["split", "short"]
    assert (configured["split"].url, configured["split"].view) == ("s3://bucket/fetch", "e4s")
    assert configured["split"].options == {
        "profile": "site",
        "endpoint_url": "https://s3.example.org",
        "access_pair": {"id_variable": "CACHE_ID", "secret_variable": "CACHE_SECRET"},
    }
    assert "CACHE_ID" not in repr(configured["split"])
    assert (configured["short"].url, configured["short"].options) == ("https://y.example.org", {})
    assert [each.partition(": ")[2] for each in problems(spack)] == [
        f"line {line}: the mirror {name} has no url to fetch from"
        for line, name in ((12, "empty"), (13, "none"))
    ]


def test_paths_are_as_seen_from_their_file(spack: SpackRoot) -> None:
    spack.environ |= {"SITE_DISK": "/disk", "TMPDIR": "/scratch"}
    paths = {
        "./mirror": f"{spack.home}/.spack/mirror",
        "~/mirror": f"{spack.home}/mirror",
        "$spack/mirror": f"{spack.root}/mirror",
        "${SPACK}/mirror": f"{spack.root}/mirror",
        "/data/$user": "/data/ada",
        "$tempdir/mirror": "/scratch/mirror",
        "$SITE_DISK/mirror": "/disk/mirror",
        "/data/$nothing": "/data/$nothing",
        "https://example.org/$user": "https://example.org/$user",
    }
    lines = (f"  m{number}: {path}\n" for number, path in enumerate(paths))
    spack.write(USER, "mirrors:\n" + "".join(lines))

    assert [mirror.url for mirror in mirrors(spack.environ).values()] == [*paths.values()]


def test_files_and_directories_are_included(spack: SpackRoot) -> None:
    spack.write("shared/mirrors.yaml", mirror_file("directory"))
    spack.write("shared/one.yaml", "mirrors:\n  file: ./beside\n")
    spack.write("shared/include.yaml", "include: [one.yaml, ../home/.spack]\n")
    spack.write(
        "home/.spack/include.yaml",
        """\
        include:
          - ../../shared
          - {path: /nowhere/at/all, optional: true}
          - {path: ../../never, when: '"NOT_SET" in env'}
          - path: /nowhere/needed
          - path: /nowhere/$HOME/.token
          - https://example.org/mirrors.yaml
          - {git: https://example.org/config.git, paths: [x]}
          - {path: ../../shared/one.yaml, when: 'hostname == x'}
        """,
    )
    spack.write("never/mirrors.yaml", mirror_file("never"))

    configured = mirrors(spack.environ)

    assert list(configured) == ["directory", "file"]
    assert configured["file"].url == f"{spack.root.parent}/shared/beside"
    text = "\n".join(problems(spack))
    assert "/nowhere/needed that it includes does not exist" in text
    assert "/nowhere/$HOME/.token that it includes does not exist" in text
    assert "https://example.org/mirrors.yaml is skipped" in text
    assert "https://example.org/config.git is skipped" in text
    assert "its condition hostname == x is not understood: x is not known" in text
    assert "at/all" not in text
    assert "never" not in text


def test_the_active_environment_counts_most(spack: SpackRoot) -> None:
    spack.write(USER, mirror_file("user"))
    spack.write("shared/mirrors.yaml", mirror_file("included"))
    spack.write(
        "env/spack.yaml",
        """\
        spack:
          specs: [zlib]
          include: [../shared]
          mirrors:
            env: $env/mirror
          config:
            install_tree: {root: ./tree}
        """,
    )
    spack.environ["SPACK_ENV"] = str(spack.root.parent / "env")

    configured = mirrors(spack.environ)

    assert list(configured) == ["env", "included", "user"]
    assert configured["env"].url == f"{spack.root.parent}/env/mirror"
    assert list(spack.config().trees) == [f"{spack.root.parent}/env/tree"]
    spack.environ["SPACK_ENV"] = "/nowhere"
    assert problems(spack) == ["/nowhere/spack.yaml: the active environment has no such file"]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", "{root}/opt/spack"),
        ("config: {install_tree: {root: $spack/opt/spack}}", "{root}/opt/spack"),
        ("config: {install_tree: {root: ~/tree, padded_length: 128}}", "{home}/tree"),
        ("config: {install_tree: /apps/$user}", "/apps/ada"),
        ("config: {install_tree: '/apps/spack$padding:128'}", "/apps/spack"),
        ("config: {'install_tree:': {root: ../../tree}}", "{home}/../tree"),
        ("config: {install_tree: {projections: {all: x}}}", "{root}/opt/spack"),
        ("config: {install_tree: [1]}", "{root}/opt/spack"),
        ("config: []", "{root}/opt/spack"),
    ],
)
def test_the_install_tree_is_the_one_configured(text: str, tree: str, spack: SpackRoot) -> None:
    spack.write("home/.spack/config.yaml", text)

    expected = Path(tree.format(root=spack.root, home=spack.home)).resolve()
    assert list(spack.config().trees) == [str(expected)]


def test_install_trees_of_upstreams_follow(spack: SpackRoot) -> None:
    spack.write(
        "spack/etc/spack/upstreams.yaml",
        "upstreams: {central: {install_tree: /central/tree, modules: {}}, odd: 5}",
    )

    assert list(spack.config().trees) == [f"{spack.root}/opt/spack", "/central/tree"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (os.mkdir, "cannot be read: "),
        (os.mkfifo, "cannot be read: "),
        (lambda path: os.symlink("/dev/zero", path), "cannot be read: "),
        ("mirrors:\n  one: [\n", "line 3: cannot be read from here on: "),
        ("mirrors:\n\tone: x\n", "line 2: cannot be read from here on: "),
        ("- x\n", "cannot be read: not a mapping"),
        ("[" * 50_000, "line 1: cannot be read: it is nested too deeply"),
        ("a: " + "{a: " * 40, "line 1: cannot be read: it is nested too deeply"),
        ("a: [x]\n" + "mirrors: *b\n", "line 2: cannot be read from here on: "),
        ("a: &a [*a]\n", "line 1: cannot be read: the alias a refers to a value that it is part"),
        ("x" * (2**20 + 1), "cannot be read: "),
        ("\0", "cannot be read"),
        ("a: \udcff", "cannot be read: byte 3 is not UTF-8 text"),
    ],
)
def test_a_broken_file_is_reported_and_others_are_read(
    text: str | Callable[[Path], None], reason: str, spack: SpackRoot
) -> None:
    spack.write(SITE, mirror_file("site"))
    path = spack.write("home/.spack/mirrors.yaml", "")
    if isinstance(text, str):
        path.write_text(text, errors="surrogateescape")
    else:
        path.unlink()
        text(path)

    assert list(mirrors(spack.environ)) == ["site"]
    (problem,) = problems(spack)
    assert problem.startswith(f"{path}: {reason}")


def unfolding(names: str, times: int) -> str:
    """Write mappings of which each stands for the one before many times over."""
    return f"{names[0]}: &{names[0]} {{x: y}}\n" + "".join(
        f"{name}: &{name} {{{', '.join(f'k{n}: *{before}' for n in range(times))}}}\n"
        for before, name in pairwise(names)
    )


def test_aliases_are_replaced_unless_they_unfold_to_very_much(spack: SpackRoot) -> None:
    few = f"{unfolding('abcd', 9)}mirrors:\n  one: &url https://example.org\n  two: *url\n"
    spack.write(USER, few)
    assert list(mirrors(spack.environ)) == ["one", "two"]
    for times in (2, 9):
        many = unfolding("abcdefghijklmnopqrstuvwxyz", times)
        bomb = f"{many}mirrors:\n  bomb: *z\n  other: {{fetch: *h}}\n"
        paths = [str(spack.write(path, bomb)) for path in (USER, "system/mirrors.yaml")]
        found = spack.config()
        assert not found.mirrors
        assert sorted(problem.origin for problem in found.problems) == paths
        assert all("more than 100,000 values" in each.reason for each in found.problems)


def rules_of(spack: SpackRoot) -> ReuseRules:
    return read_reuse_rules(spack.config())


def test_yaml_is_that_of_spack(spack: SpackRoot) -> None:
    path = spack.write(
        "home/.spack/packages.yaml",
        """\
        packages:
          hdf5: &strict
            require: [":1.10", '~shared']
            buildable: false
          zlib: {version: [:2.4.6, 1.2:], require: :1.3}
          netcdf-c:
            <<: *strict
            buildable: true
        """,
    )
    rules = rules_of(spack)
    numbers = {name: len(its) for name, its in rules.requirements.items()}
    assert numbers == {"hdf5": 2, "zlib": 1, "netcdf-c": 2}
    assert list(rules.not_buildable) == ["hdf5"]
    specs = [spec for its in rules.requirements.values() for each in its for spec in each.specs]
    assert {spec.file for spec in specs} == {str(path)}


def test_a_file_with_an_error_is_read_as_far_as_it_is_known(spack: SpackRoot) -> None:
    text = """\
        packages:
          all:
            require: "~shared"
          zlib:
            buildable: false
            require: ["@1.2"]
          zlib:
            require: ["@1.3"]
          hdf5:
            require: ["+mpi"]
            conflict: [+x
        """
    path = spack.write("home/.spack/packages.yaml", text)

    rules = rules_of(spack)

    read = {name: each.specs for name, (each,) in rules.requirements.items()}
    assert read == {"all": ("~shared",), "zlib": ("@1.2",), "hdf5": ("+mpi",)}
    config = spack.config()
    read_reuse_rules(config)
    repeated, broken = map(str, config.problems)
    assert repeated == f"{path}: line 7: the key zlib is repeated; this one is left out"
    assert broken.startswith(f"{path}: line 12: cannot be read from here on: ")


def test_a_tree_that_is_not_known_is_not_another_one(spack: SpackRoot) -> None:
    spack.write("home/.spack/config.yaml", "config: {install_tree: {root: $PROJECT/spack}}")
    assert spack.config().trees == ()
    spack.environ["PROJECT"] = "/project"
    assert spack.config().trees == ("/project/spack",)


def test_a_lock_file_that_is_included_configures_nothing(spack: SpackRoot) -> None:
    spack.write("env/spack.lock", "{}")
    spack.write("home/.spack/include.yaml", "include: [../../env/spack.lock]")
    assert problems(spack) == []


def test_includes_and_variables_are_bounded(spack: SpackRoot) -> None:
    spack.write(USER, f"mirrors:\n  bomb: {'$LONG/' * 10_000}\n")
    spack.environ["LONG"] = "x" * 100_000
    for number in range(300):
        entry = {"include": [str(spack.home / f"{number + 1}.yaml")]}
        (spack.home / f"{number}.yaml").write_text(json.dumps(entry))
    spack.write("home/.spack/include.yaml", json.dumps({"include": [str(spack.home / "0.yaml")]}))

    found = spack.config()
    assert len(found.mirrors["bomb"].url) < 3_000_000
    (problem,) = found.problems
    assert problem.reason == "is not read, nor is any after it; at most 200 files are"

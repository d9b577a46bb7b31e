"""Build spackscope.pyz: the program and what it needs, in one file for any Python from 3.10.

    make pyz                                                builds dist/spackscope.pyz
    python packaging/pyz/make_pyz.py --wheel FILE OUTPUT    packs a wheel that was built before
    python packaging/pyz/make_pyz.py --versions             lists what is packed, to be audited

The versions are those of requirements-dev.txt. Only what is pure Python is packed, since a
compiled module fits one version of Python and one processor. The same files give the same archive.

shiv and pex were tried. Without a home that can be written to, shiv fails, and pex unpacks itself
at each start, which takes seconds. shiv also doubles the time of a command, waits for ever where a
file system has no locks, and needs the right Python to be the one that is called python3.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOCK = ROOT / "requirements-dev.txt"
OLDEST = {"python_version": "3.10", "python_full_version": "3.10.0"}
"""The Python that all versions have to run on."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_NOT_PACKED = frozenset(("__pycache__", "bin", "direct_url.json", "RECORD"))
"""Programs begin with the path of the Python that packs them, and the others note where it is."""


def main() -> None:
    """Build the file that the command line names."""
    parser = argparse.ArgumentParser(description="Build spackscope.pyz.")
    parser.add_argument("--wheel", type=Path, help="the wheel of spackscope to pack")
    parser.add_argument("--versions", action="store_true", help="only print what would be packed")
    parser.add_argument("output", type=Path, nargs="?", default=ROOT / "dist" / "spackscope.pyz")
    arguments = parser.parse_args()
    if arguments.versions:
        print(*sorted(locked_versions().values()), sep="\n")
        return
    with tempfile.TemporaryDirectory() as directory:
        site = Path(directory, "site")
        wheel = arguments.wheel or build_wheel(Path(directory, "wheel"))
        install(wheel, site)
        version = wheel.name.split("-")[1]
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        write_pyz(site, arguments.output, version)
    size = arguments.output.stat().st_size / 1e6
    print(f"{arguments.output}: spackscope {version}, {size:.1f} MB")


def build_wheel(directory: Path) -> Path:
    """Build the wheel of a copy of the tree, so that no earlier build is packed with it."""
    tree = directory / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "build", "dist", "*.egg-info"))
    run_pip("wheel", "--no-deps", "--wheel-dir", directory, tree)
    (wheel,) = directory.glob("*.whl")
    return wheel


def install(wheel: Path, site: Path) -> None:
    """Install a wheel, and what it needs, into a directory."""
    versions = locked_versions()
    into = ("install", "--no-deps", "--no-compile", "--target", site)
    # PyYAML has no wheel that is pure Python, but builds one if asked to.
    run_pip(*into, "--no-binary", "pyyaml", versions.pop("pyyaml"), PYYAML_FORCE_LIBYAML="0")
    any_python = ("--python-version", "3.10", "--implementation", "py", "--abi", "none")
    run_pip(*into, "--only-binary", ":all:", "--platform", "any", *any_python, *versions.values())
    run_pip(*into, wheel)
    if compiled := sorted(site.rglob("*.so")):
        sys.exit(f"{compiled[0]} runs with one Python only")


def run_pip(*words: str | Path, **environ: str) -> None:
    """Run pip, and show what it said if it fails."""
    command = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", *words]
    subprocess.run(command, check=True, env=os.environ | environ)


def locked_versions() -> dict[str, str]:
    """Return what spackscope needs on the oldest Python: names with `name==version`."""
    locked = {}
    for line in LOCK.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate(dict(OLDEST)):
                locked[requirement.name] = f"{requirement.name}{requirement.specifier}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed: dict[str, str] = {}
    waiting = [(Requirement(text), "") for text in project["dependencies"]]
    while waiting:
        requirement, extra = waiting.pop()
        marker = requirement.marker
        name = requirement.name.lower().replace("_", "-")
        if marker is None or marker.evaluate(OLDEST | {"extra": extra}):
            is_known = name in needed and not requirement.extras
            needed[name] = locked[name]
            if not is_known:
                waiting += [
                    (further, wanted)
                    for further in requirements_of(name)
                    for wanted in ("", *requirement.extras)
                ]
    return needed


def requirements_of(name: str) -> list[Requirement]:
    """Return what a distribution needs, as it is installed here."""
    try:
        return [Requirement(text) for text in requires(name) or ()]
    except PackageNotFoundError:
        # It is for an older Python than this one. Such a backport needs nothing else.
        return []


def write_pyz(site: Path, output: Path, version: str) -> None:
    """Write an archive of a directory of packages, with what unpacks and starts it."""
    contents = {
        f"site/{path.relative_to(site).as_posix()}": path.read_bytes()
        for path in site.rglob("*")
        if path.is_file() and _NOT_PACKED.isdisjoint(path.relative_to(site).parts)
    }
    for name in ("__main__.py", "start.py", "unpack.py"):
        contents[name] = (HERE / name).read_bytes()
    digest = hashlib.sha256()
    for name, data in sorted(contents.items()):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    build = f"{version}-{digest.hexdigest()[:16]}"
    contents["build"] = build.encode()

    start = (HERE / "start.sh").read_text("utf-8")
    start = start.replace("@VERSION@", version).replace("@BUILD@", build)
    with output.open("wb") as file:
        file.write(start.encode())
        with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in sorted(contents.items()):
                information = ZipInfo(name, _EPOCH)
                information.external_attr = 0o644 << 16
                information.compress_type = ZIP_DEFLATED
                archive.writestr(information, data)
    output.chmod(0o755)


if __name__ == "__main__":
    main()

"""Build spackscope.pyz: the program and what it needs, in one file for any Python from 3.10.

    make pyz                                                builds dist/spackscope.pyz
    python packaging/pyz/make_pyz.py --wheel FILE OUTPUT    packs a wheel that was built before

What it needs is pinned by hash in requirements.txt, in the versions of requirements-dev.txt.
Only what is pure Python is packed, since a compiled module fits one version of Python and one
processor. The same files give the same archive.

shiv and pex were tried. Without a home that can be written to, shiv fails, and pex unpacks itself
at each start, which takes seconds. shiv also doubles the time of a command, waits for ever where a
file system has no locks, and needs the right Python to be the one that is called python3.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOCK = HERE / "requirements.txt"
"""What spackscope needs on the oldest Python, on which all of it runs."""
_ANY_PYTHON = ("--python-version", "3.10", "--implementation", "py", "--abi", "none")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_NOT_PACKED = frozenset(("__pycache__", "bin", "direct_url.json", "RECORD"))
"""Programs begin with the path of the Python that packs them, and the others note where it is."""


def main() -> None:
    """Build the file that the command line names."""
    parser = argparse.ArgumentParser(description="Build spackscope.pyz.")
    parser.add_argument("--wheel", type=Path, help="the wheel of spackscope to pack")
    parser.add_argument("output", type=Path, nargs="?", default=ROOT / "dist" / "spackscope.pyz")
    arguments = parser.parse_args()
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
    into = ("install", "--no-deps", "--no-compile", "--target", site)
    locked = re.findall(r"^\w.*(?:\n .*)*", LOCK.read_text("utf-8"), re.MULTILINE)
    file = site.with_name("requirements.txt")
    for is_yaml, words in (
        # PyYAML has no wheel that is pure Python, but builds one if asked to.
        (True, ("--no-binary", "pyyaml")),
        (False, ("--only-binary", ":all:", "--platform", "any", *_ANY_PYTHON)),
    ):
        file.write_text(
            "\n".join(each for each in locked if each.startswith("pyyaml=") == is_yaml)
        )
        run_pip(*into, *words, "--require-hashes", "-r", file, PYYAML_FORCE_LIBYAML="0")
    run_pip(*into, wheel)
    if compiled := sorted(site.rglob("*.so")):
        sys.exit(f"{compiled[0]} runs with one Python only")


def run_pip(*words: str | Path, **environ: str) -> None:
    """Run pip, and show what it said if it fails."""
    command = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", *words]
    subprocess.run(command, check=True, env=os.environ | environ)


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

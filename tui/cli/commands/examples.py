"""The command `examples`: write the files that the how-tos read."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

from spackscope.model.core.text import clean
from spackscope.tui.cli.arguments import Options
from spackscope.tui.process import ExitCode, Leave, stdio


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Write the files into a directory that does not exist or is empty. Raises Leave."""
    directory = Path(options.words[0])
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if os.listdir(directory):
            raise Leave(ExitCode.USAGE, f"{directory} is not empty; name a new directory")
        write_examples(directory)
    except OSError as error:
        reason = error.strerror or error
        raise Leave(ExitCode.UNREADABLE, f"{directory} cannot be written: {reason}") from None
    stdio.print_line(f"{clean(str(directory))}: {', '.join(sorted(os.listdir(directory)))}")
    return ExitCode.FOUND


def write_examples(directory: Path) -> None:
    """Write the files. Raises OSError."""
    data = files("spackscope.sample_data")
    with (data / "examples.zip").open("rb") as file, ZipFile(file) as archive:
        archive.extractall(directory)
    index = json.loads(gzip.decompress((data / "cache" / "index.json.gz").read_bytes()))
    # In the sample, dependencies are not in the cache.
    for record in index["database"]["installs"].values():
        record["in_buildcache"] = not record["spec"].get("external")
    (directory / "index.json").write_text(json.dumps(index))
    (directory / "new").mkdir()
    lock = (data / "environment" / "spack.lock").read_bytes()
    (directory / "new" / "spack.lock").write_bytes(lock)

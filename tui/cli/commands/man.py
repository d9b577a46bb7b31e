"""The command `man`: show a manual page, or print it for another program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.man_pages import PAGES, man_page, topic_of
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Show a manual page with man on a terminal; elsewhere print its source. Raises Leave."""
    topic = topic_of(options.words)
    page = man_page(topic)
    if not stdio.is_terminal(sys.stdout):
        stdio.print_line(page.rstrip("\n"))
        return ExitCode.FOUND
    man = shutil.which("man", path=environ.get("PATH"))
    if man is None:
        other = "spackscope help" if topic not in options.words else f"spackscope help {topic}"
        raise Leave(ExitCode.UNREADABLE, f"there is no man on PATH; see `{other}`")
    with tempfile.TemporaryDirectory(prefix="spackscope-") as directory:
        path = Path(directory, PAGES[topic])
        path.write_text(page, encoding="utf-8")
        # A name with a slash is a file for every man.
        code = subprocess.run([man, os.fspath(path)], check=False).returncode
    return ExitCode.UNREADABLE if code else ExitCode.FOUND

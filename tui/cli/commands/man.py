"""The command `man`: show a manual page, or print it for another program."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping

from spackscope.model.core.suggestions import did_you_mean
from spackscope.tui.cli import read_resource
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.command_table import BROWSE, QUERY
from spackscope.tui.process import ExitCode, Leave, stdio

PAGES = {BROWSE: "spackscope.1", QUERY: "spackscope-query.7"}
"""The names of the pages by their topics; docs/make_manual.py makes them."""


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Show a manual page with man on a terminal; elsewhere print its source. Raises Leave."""
    topic = " ".join(options.words) or BROWSE
    if topic not in PAGES:
        sentence = f"no manual page on {topic}{did_you_mean(topic, [QUERY])}"
        raise Leave(ExitCode.USAGE, f"{sentence}; see `spackscope man --help`")
    if not stdio.is_terminal(sys.stdout):
        stdio.print_line(man_page(topic).rstrip("\n"))
        return ExitCode.FOUND
    man = shutil.which("man", path=environ.get("PATH"))
    fault = "man is not on PATH"
    if man is not None:
        try:
            fault = _show(man, topic)
        except OSError as error:
            fault = f"man cannot show the page: {error.strerror or error}"
    if fault:
        other = " ".join(("spackscope help", *options.words))
        raise Leave(ExitCode.UNREADABLE, f"{fault}; see `{other}`")
    return ExitCode.FOUND


def _show(man: str, topic: str) -> str:
    """Show a page until the user leaves it; return the fault, or "". Raises OSError."""
    with (
        tempfile.TemporaryDirectory(prefix="spackscope-") as directory,
        _interrupts() as interrupts,
    ):
        path = os.path.join(directory, PAGES[topic])
        with open(path, "w", encoding="utf-8") as file:
            file.write(man_page(topic))
        # A name with a slash is a file for every man.
        code = subprocess.run([man, path], check=False).returncode
    # Ctrl-C may have interrupted the program that formats the page for the pager.
    return f"man ended with exit code {code}" if code and not interrupts else ""


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect the signals of Ctrl-C, which belong to the pager."""
    numbers = list[int]()
    # Unlike SIG_IGN a handler is not inherited.
    before = signal.signal(signal.SIGINT, lambda number, _: numbers.append(number))
    try:
        yield numbers
    finally:
        signal.signal(signal.SIGINT, before)


def man_page(topic: str) -> str:
    """Return the manual page on a topic of PAGES, in the language of man(7)."""
    return read_resource(f"man_pages/{PAGES[topic]}")

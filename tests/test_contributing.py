"""The recipes of CONTRIBUTING.md work to the letter, in a copy of the program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import ROOT
from tests.program import edit, environment, link_program

RECIPES = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

(JOB,) = re.findall(r"`(Job\(.*?\))`", " ".join(RECIPES.split()))
(COPY_FORM,) = re.findall(r"`(CopyForm\(.*?)`", " ".join(RECIPES.split()))
COLUMN, PREDICATE = re.findall(r"`(Column\(.*?\))`", " ".join(RECIPES.split()))

EDITS = {
    "model/core/columns.py": (
        ")\n# fmt: on\n",
        f"    {COLUMN},\n"
        f"    {PREDICATE},\n"
        '    Column("series", storage="version",\n'
        '           derive=lambda s: ".".join(s.version.split(".")[:2]),\n'
        '           meaning="the first two parts of the version"),\n'
        '    Column("successor", meaning="what is to be used instead"),\n'
        ")\n# fmt: on\n",
    ),
    "model/core/records.py": (
        '    build_spec: str = ""\n',
        '    build_spec: str = ""\n    successor: str = ""\n',
    ),
    "model/readers/nodes.py": (
        '            "path": "" if',
        '            "successor": self._optional("", record.get("deprecated_for")),\n'
        '            "path": "" if',
    ),
    "model/core/rules.py": (
        "\nRULES = (\n",
        '\nRULES = (\n    UNWANTED := Rule("unwanted", "unwanted package", "remove it"),\n',
    ),
    "model/analysis/fit.py": (
        "    return [rules.WRAPPER.reason] if",
        '    if name in ("py-build", "zlib"):\n        return [rules.UNWANTED.reason]\n'
        "    return [rules.WRAPPER.reason] if",
    ),
    "model/report/writers.py": (
        "\nFORMATS = (\n",
        "\nFORMATS = (\n"
        '    Format("names", ".names",\n'
        "           lambda sheet: (spec.package for spec in sheet.rows)),\n",
    ),
    "tui/settings/table.py": (
        "\nSETTINGS = (\n",
        "\nSETTINGS = (\n"
        '    Setting("greeting", "text", "The word that greets.", \'"hi"\', "hello",\n'
        '            "SPACKSCOPE_GREETING"),\n',
    ),
    "tui/browser/state.py": (
        '    stale: str = ""\n',
        '    stale: str = ""\n    total: int = 0\n',
    ),
    "tui/browser/jobs.py": (
        "\n# Files\n",
        f"\n# Files\nCOUNT_ALL = {JOB}\n",
    ),
    "tui/browser/copy.py": (
        "        *_address(catalog, view),\n",
        "        *_address(catalog, view),\n"
        '        CopyChoice("N", "number", "3", "it", lambda: str(catalog.count(view.query))),\n',
    ),
    "model/core/commands.py": (
        '    choice("hashes",',
        '    choice("names", "print names"),\n    choice("hashes",',
    ),
}
"""What a contributor changes, by file: a text that is there once, and what comes in its place."""

ANSWER = """\
from spackscope.model.core.commands import SHEET, SOURCES, Command
from spackscope.model.report.sheet import Sheet, SheetColumn

COMMAND = Command("tally", "count builds", ("[QUERY...]",), "Count.", (*SHEET, *SOURCES), "query")


def answer(asked):
    (catalog,) = asked.load(asked.sources)
    columns = [
        SheetColumn("package", lambda row: row.name, meaning="its name"),
        SheetColumn("builds", lambda row: row.shown, meaning="how many it has"),
    ]
    packages = catalog.packages(asked.query(asked.words))
    return Sheet("builds of each package", columns, packages)
"""
KEYS = (
    '    Key(ANYWHERE, "cover", "C",',
    '    Key(ANYWHERE, "tally", "T", "tally", "Count builds.", as_text="tally",\n'
    "        is_answer=True),\n"
    '    Key(ANYWHERE, "count-all", "B", "count_all", "Count all specs."),\n'
    '    Key(ANYWHERE, "total", "V", "total", "Say how many there are.", needs=(TOTAL,)),\n'
    '    Key(ANYWHERE, "cover", "C",',
)
FORM = ("\nFORMS = (\n", f"\nFORMS = (\n    {COPY_FORM},\n")
FIELD = ('    copy: str = ""\n', '    copy: str = ""\n    greeting: str = ""\n')
NEED = ('ROW, SPEC, LINES = "row"', 'TOTAL = "total"\nROW, SPEC, LINES = "row"')
ACTIONS = (
    "ACTIONS: dict",
    """\
def count_all(screen):
    host, catalog = screen.host, screen.host.state.catalog
    host.run(lambda _: catalog.total, lambda n: host.change(total=n), jobs.COUNT_ALL, of=catalog)


ACTIONS: dict""",
)
ACTION = (
    '    "zoom": lambda',
    '    "count_all": count_all,\n'
    '    "total": lambda self: self.host.say(f"there are {self.host.state.total}"),\n'
    '    "zoom": lambda',
)
GREET = """\
from spackscope.model.core.commands import HELP_OPTION, Command
from spackscope.tui.process import ExitCode
from spackscope.tui.settings import read_settings

COMMAND = Command("greet", "greet", (), "Greet.", (HELP_OPTION,), reads_sources=False)


def run(options, environ):
    print(read_settings(environ).greeting or "hello", environ["HOME"])
    return ExitCode.FOUND
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a directory with a copy of the program in which a contributor added something."""
    program = link_program(tmp_path)
    for name, (old, new) in EDITS.items():
        edit(program / name, old, new)
    (program / "tui/cli/commands/greet.py").write_text(GREET, "utf-8")
    (program / "model/answers/tally.py").write_text(ANSWER, "utf-8")
    for name, change in (
        *(("tui/keymap.py", NEED), ("tui/keymap.py", KEYS)),
        ("tui/browser/copy.py", FORM),
        ("tui/settings/__init__.py", FIELD),
        *(("tui/browser/screen.py", ACTION), ("tui/browser/screen.py", ACTIONS)),
    ):
        edit(program / name, *change)
    return tmp_path


def test_what_is_added_is_found(copy: Path) -> None:
    line = [sys.executable, "-m", "spackscope.tui.cli.main"]
    environ = environment(copy / "home", PYTHONPATH=str(copy))
    # The index is there already, from a program that knows nothing of this.
    subprocess.check_output([*line, "find", "py-build"], env=environment(copy / "home"))
    for words, heads in (
        (["find", "--csv", "series=1.2", "py-build"], {"series", "successor"}),
        (["find", "--csv", "!external=?*", "py-build"], {"package"}),
        (["tally", "--csv", "py-build"], {"package", "builds"}),
        (["find", "--csv", "--columns=reasons", "reusable=unwanted*"], {"reasons"}),
    ):
        text = subprocess.check_output([*line, *words], env=environ, encoding="utf-8")
        assert heads <= {*text.splitlines()[0].split(",")}
    assert "unwanted: unwanted package" in text


@pytest.mark.exhaustive
@pytest.mark.timeout(0)  # Each of the tests that it runs has a limit of its own.
def test_added_columns_a_format_a_command_and_an_answer_work_everywhere(copy: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/added_parts.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(copy), "HOME": str(copy)},
        capture_output=True,
        encoding="utf-8",
    )

    assert result.returncode == 0, result.stdout
    assert " passed" in result.stdout

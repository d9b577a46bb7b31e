from collections import Counter
from pathlib import Path

import pytest

from spackscope.model.core.text import cell_width
from spackscope.tui.process import ExitCode
from tests.browsing import SAMPLE
from tests.builders.pages import record, write_page
from tests.hostile import HOSTILE_TEXT
from tests.program import Program

PLAIN = {"NO_COLOR": "1"}
TARGETS = Counter(str(r["target"]) for r in SAMPLE)


def by_count(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def test_a_pipe_gets_values_and_counts_with_tabs(program: Program) -> None:
    result = program("stats", "--by", "target")
    title = f"spackscope: target · {len(SAMPLE)} specs · {len(TARGETS)} values\n"
    assert (result.returncode, result.stderr) == (ExitCode.FOUND, title)
    head, *rows = (line.split("\t") for line in result.stdout.splitlines())
    assert head == ["target", "count", "share"]
    assert [(value, int(count)) for value, count, _ in rows] == by_count(TARGETS)
    assert [float(share) for _, _, share in rows] == [
        round(count / len(SAMPLE), 4) for _, count in by_count(TARGETS)
    ]
    words = "--csv", "os=ubuntu22.04"
    assert program("stats", "target", *words).stdout == (
        program("stats", "--by", "target", *words).stdout
    )


def test_a_terminal_gets_bars(program: Program) -> None:
    code, text = program.on_terminal("stats", "--by", "target", columns=60, changes=PLAIN)
    head, _, heads, *lines = text.splitlines()
    assert heads.split() == ["target", "count"]
    assert code == ExitCode.FOUND
    assert head == f"target · {len(SAMPLE)} specs · {len(TARGETS)} values"
    values = [line.split()[0] for line in lines]
    assert values == [value for value, _ in by_count(TARGETS)]
    assert "█" in lines[0]
    assert max(map(cell_width, lines)) <= 60
    _, text = program.on_terminal("stats", "--by", "target", changes={**PLAIN, "LC_ALL": "C"})
    assert "#" in text
    assert text.isascii()
    _, text = program.on_terminal("stats", "--by", "target", "--no-color")
    assert "\x1b" not in text


def test_a_variant_counts_its_values_and_where_it_is_missing(program: Program) -> None:
    records = [record(1, variants=["cuda_arch=80,90"]), record(2, variants=[])]
    write_page(program.home / "pages", records)
    words = ("stats", "--by", "cuda_arch", "-f", "pages")
    assert [[*row.values()] for row in program.rows(*words)] == [
        ["cuda_arch=80", 1, 0.5],
        ["cuda_arch=90", 1, 0.5],
        [None, 1, 0.5],
    ]
    assert program(*words).stdout.splitlines()[-1] == "none\t1\t0.5"


@pytest.mark.parametrize(
    ("option", "printed"), [("--json", "[]\n"), ("--csv", "os,count,share\n")]
)
def test_nothing_matched(program: Program, option: str, printed: str) -> None:
    result = program("stats", "--by", "os", option, "os=nosuch")
    assert (result.returncode, result.stdout) == (ExitCode.NOTHING, printed)
    assert result.stderr.startswith("spackscope: No spec has os=nosuch")
    code, text = program.on_terminal("stats", "--by", "os", "nosuch")
    assert (code, text) == (ExitCode.NOTHING, "spackscope: Unknown package nosuch\n")


def test_hostile_values_stay_on_their_line(program: Program, tmp_path: Path) -> None:
    texts = [text for _, text in HOSTILE_TEXT]
    write_page(tmp_path / "pages", [record(n, os=t, target=t) for n, t in enumerate(texts)])
    source = "-f", str(tmp_path / "pages")
    number = len(program.rows("stats", "--by", "os", *source))
    for words in (["--by", "os"], ["--by", "os", "--by", "target"]):
        lines = program("stats", *words, *source).stdout.splitlines()
        assert len(lines) == number + 1
        for columns in (30, 80):
            _, text = program.on_terminal("stats", *words, *source, columns=columns, changes=PLAIN)
            drawn = [line for line in text.splitlines() if not line.startswith("spackscope:")]
            assert sum("\t" not in line and bool(line.strip()) for line in drawn) >= 40
            assert all(line.isprintable() for line in drawn)
            assert max(map(cell_width, drawn)) <= columns

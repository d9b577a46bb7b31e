from collections import Counter

from spackscope.model.core.text import cell_width
from spackscope.tui.process import ExitCode
from tests.browsing import SAMPLE
from tests.builders.pages import record, write_page
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
    changes = {"LC_ALL": "C"}
    _, text = program.on_terminal("stats", "target", "--no-color", changes=changes)
    assert "#" in text
    assert text.isascii()
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


def test_a_variant_named_as_a_column_has_a_key_of_its_own(program: Program) -> None:
    write_page(program.home, [record(1, variants=["+count"]), record(2, variants=["~count"])])
    rows = program.rows("stats", "count", "-f", str(program.home))
    assert sorted(row["+count"] for row in rows) == ["+count", "~count"]

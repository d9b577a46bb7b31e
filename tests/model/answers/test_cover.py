"""Parts are drawn in percent: only nothing is 0 %, and only all is 100 %."""

from __future__ import annotations

import pytest

from tests.builders import environment, hash_of, leaf, write_index
from tests.program import Program


@pytest.mark.parametrize(
    ("cached", "drawn"), [(0, "0 %"), (1, "<1 %"), (2, "1 %"), (199, "99 %"), (200, "100 %")]
)
def test_a_part_is_rounded_down(cached: int, drawn: str, program: Program) -> None:
    nodes = [leaf(hash_of(number), f"p{number}", "1") for number in range(200)]
    lock = environment(nodes, *(node["hash"] for node in nodes))
    (program.home / "spack.lock").write_bytes(lock)
    write_index(program.home, *nodes[:cached], leaf(hash_of(999), "other", "1"))
    words = ("cover", "spack.lock", "-f", "index.json", "--host", "zen3")
    _, text = program.on_terminal(*words, changes={"NO_COLOR": "1"})
    assert text.splitlines()[-1].split(maxsplit=2)[2].startswith(drawn)

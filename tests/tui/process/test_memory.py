"""Memory of large answers is returned to the system."""

from __future__ import annotations

import subprocess
import sys

_LEFT = """
import sys
from spackscope.tui.app import limit_heaps

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

if sys.argv[1] == "limited":
    limit_heaps()
block = b"x" * (30 << 20)
del block
before, blocks, between = resident(), [], []
for _ in range(20):
    blocks.append(b"x" * (2 << 20))
    # Held by nothing of Python's own, and so at the top of the heap.
    between.append(b"x" * 2000)
del blocks
print((resident() - before) >> 20)
"""


def left_over(how: str) -> int:
    run = subprocess.run(
        [sys.executable, "-c", _LEFT, how], capture_output=True, text=True, check=True
    )
    return int(run.stdout)


def test_what_is_large_goes_back_to_the_system() -> None:
    assert left_over("limited") < 10

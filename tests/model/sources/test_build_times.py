"""How long builds took is read from the prefixes of install trees, at any depth."""

import json
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.sources.build_times import build_seconds
from tests.builders.pages import hash_of

LIMIT = 366 * 24 * 3600


def write_times(folder: Path, number: int, times: object) -> None:
    """Write the times of a build below a folder, or a text in their place."""
    path = folder / f"zlib-1.3-{hash_of(number)}" / ".spack" / "install_times.json"
    path.parent.mkdir(parents=True)
    path.write_text(times if isinstance(times, str) else json.dumps(times))


def test_prefixes_are_found_down_to_the_depth_of_the_defaults_of_spack(tmp_path: Path) -> None:
    tree, other = tmp_path / "tree", tmp_path / "other"
    for number in range(6):
        write_times(tree.joinpath(*"abcdef"[:number]), number, {"total": number})
    write_times(tree / ".hidden", 7, {"total": 7})
    write_times(other, 0, {"total": 99})
    write_times(other, 8, {"total": 8})
    (tree / "link").symlink_to(other)
    hashes = [hash_of(number) for number in range(9)]

    found = {hash_of(number): float(number) for number in range(4)}
    assert build_seconds([str(tree)], hashes) == found
    assert build_seconds([str(tree), "/nowhere", str(other)], hashes) == found | {hashes[8]: 8.0}
    assert build_seconds([str(tree)], hashes[1:2]) == {hashes[1]: 1.0}
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        build_seconds([str(tree)], hashes)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        *(({"total": seconds}, seconds) for seconds in (0, 1, 2.5, LIMIT)),
        *(({"total": wrong}, None) for wrong in (True, -1, LIMIT + 1, "5", None, 10**400)),
        *(({"total": 5, "cache": True}, None), ({"total": 5, "cache": False}, 5)),
        *(({}, None), ([], None), ("", None), ("{", None), ("[" * 100_000, None)),
        ('{"total": NaN}', None),
        ({"total": 5, "phases": "x" * 2**20}, None),
    ],
)
def test_a_time_is_a_plausible_number_of_seconds(
    times: object, seconds: float | None, tmp_path: Path
) -> None:
    write_times(tmp_path, 1, times)
    told = {} if seconds is None else {hash_of(1): seconds}
    assert build_seconds([str(tmp_path)], [hash_of(1)]) == told

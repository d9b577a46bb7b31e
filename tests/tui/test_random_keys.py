"""A short run of random keys: what is copied is what the screen showed, and none ends it."""

import gzip
import json
import random
from pathlib import Path

from tests.browsing import INDEX
from tests.builders.spack import environment
from tests.examples import cases
from tests.random_keys import press_random_keys
from tests.tui.browser.test_still_loading import HDF5, HERE, OTHER


@cases(("seed", "keys"), [(3, 50)], more=[(seed, 100) for seed in range(4, 20)])
async def test_what_is_copied_is_what_was_shown(seed: int, keys: int, tmp_path: Path) -> None:
    counts = await press_random_keys(
        [str(INDEX)], seed, lambda number: number < keys, query="hdf5", directory=tmp_path
    )
    assert counts["y"], "among so many keys it is at least once"
    assert counts["y"] > counts["nothing copied"] or seed != 3, "mostly there is something to copy"


@cases(("seed", "keys"), [(1, 40)], more=[(seed, 100) for seed in range(2, 20)])
async def test_no_key_ends_the_program_while_sources_change(
    seed: int, keys: int, tmp_path: Path
) -> None:
    """Another part of an index, or nothing of it, is there at each reload."""
    rng, path, lock = random.Random(seed), tmp_path / "index.json", tmp_path / "spack.lock"
    document = json.loads(gzip.decompress(INDEX.read_bytes()))
    installs = document["database"]["installs"]

    def change() -> None:
        share = rng.choice((0.0, 0.3, 0.6, 0.9, 1.0))
        some = {hash_: each for hash_, each in installs.items() if rng.random() < share}
        document["database"]["installs"] = some
        path.write_text("cut off" if rng.random() < 0.1 else json.dumps(document))
        lock.write_bytes(environment(HERE, *rng.choice(((HDF5,), (HDF5, OTHER)))))

    change()
    sources = [str(lock), str(path)]
    await press_random_keys(
        sources, seed, lambda number: number < keys, directory=tmp_path, change=change
    )

"""The main task in a real tmux with its own settings: from the first key to a copied hash."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.model.index.load import load
from spackscope.model.index.order import View
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.builders.pages import SAMPLE_PAGES
from tests.program import COMMAND
from tests.tmux import Tmux, running_tmux

pytestmark = pytest.mark.tmux


# On a busy machine a message would have gone before tmux is asked for it.
LASTING = (
    "from spackscope.tui.widgets import frame; frame._SECONDS = 120\n"
    "from spackscope.tui.cli.main import main; raise SystemExit(main())"
)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Tmux]:
    """A tmux whose program has not drawn or read anything yet."""
    with running_tmux(tmp_path, COMMAND[0], "-c", LASTING, PS1="$ ") as server:
        yield server


@pytest.fixture
def tmux(started: Tmux) -> Tmux:
    started.until("py-safetensors")
    return started


@pytest.fixture(scope="module")
def hashes() -> set[str]:
    catalog = load([str(SAMPLE_PAGES)], Session({}))
    return {spec.hash for spec in catalog.records(catalog.listing(View(parse("py-build"))).ids)}


HASH = "pfqg2xienllgkr2rb23fugktb23zwwbr"


def test_the_hash_and_the_install_line_of_a_spec_are_copied_to_the_buffer(tmux: Tmux) -> None:
    tmux.type("/", f"/{HASH[:7]}", "Enter", shows="1/1")
    tmux.type("y", shows=f"Copied {HASH[:7]}…")
    tmux.until("(tmux)")
    assert tmux("show-buffer") == HASH
    tmux.type("Y", shows="install command")
    tmux.type("i", shows="Copied spack")
    assert tmux("show-buffer") == f"spack install --cache-only /{HASH}"


def test_marked_hashes_are_copied_one_a_line(tmux: Tmux, hashes: set[str]) -> None:
    tmux.type("1", "j", "Enter", shows="24 py-build")
    tmux.type("z", shows="1/14")
    tmux.type("Space", "Space", shows="2 marked")
    tmux.type("y", shows="Copied 2 marked hashes (tmux)")
    copied = tmux("show-buffer").split("\n")
    assert len(set(copied)) == 2
    assert set(copied) <= hashes


def test_keys_that_come_all_at_once_go_where_they_are_meant(tmux: Tmux) -> None:
    tmux.type("/", "q", "u", "i", "t")
    assert "› quit" in tmux.until("› quit")
    tmux.until("Unknown package quit")


def test_what_is_typed_before_anything_is_read_goes_where_it_would_go_afterwards(
    started: Tmux,
) -> None:
    started.type("/", *"py-b", "Tab", *"os=ubuntu2", "Tab", "Enter", "j", "j", "Space")
    assert "› package=py-build os=ubuntu24.04 " in started.until("1 marked")

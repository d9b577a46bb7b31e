from pathlib import Path

import pytest

from tests.builders.mirrors import complete, files_in, write_files
from tests.builders.nodes import GCC, ZLIB, edge, leaf, node
from tests.builders.spack import SPACK_DATA, write_index
from tests.program import Program

MIRROR = "mirror"
BZIP2 = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm"


@pytest.fixture(autouse=True)
def mirror(program: Program) -> Path:
    return write_files(program.home / MIRROR, complete(files_in(SPACK_DATA / "mirror-v3")))


def test_the_closure_of_a_spec_is_listed(program: Program) -> None:
    code, text = program.on_terminal("needs", "-f", MIRROR, "bzip2", changes={"NO_COLOR": "1"})
    assert code == 0
    assert text.splitlines() == [
        f"bzip2@1.0.8  /{BZIP2}",
        "",
        "hash     package           version  virtuals  state               size",
        "",
        "needs to run: 2 specs, 5.6 kB + 1 unknown",
        "xb7lgxu  bzip2             1.0.8              cached            5.6 kB",
        "5je5iau  gcc-runtime       12.2.0             cached",
        "",
        "externals assumed on the host: 1",
        "zirfsst  glibc             2.36     libc      external at /usr",
        "",
        "needs only to build: 5 more specs",
        "o6izsu2  compiler-wrapper  1.0                cached",
        "jzvr3gm  diffutils         3.12               cached",
        "vq5g7ai  gcc               12.2.0             external at /usr",
        "zuqx467  gmake             4.4.1              cached",
        "zfa7lgd  libiconv          1.18               cached",
    ]


def test_virtuals_are_cut_at_their_end(program: Program) -> None:
    virtuals = ["blas", "lapack", "scalapack", "fftw-api"]
    nodes = [node(dependencies=[edge("mkl", GCC, ["link"], virtuals)]), leaf(GCC, "mkl", "1")]
    write_index(program.home, *nodes)
    _, text = program.on_terminal("needs", "-f", "index.json", f"/{ZLIB}", columns=40)
    assert "  blas, fftw-a…\n" in text


def test_a_page_does_not_tell_the_needs(program: Program) -> None:
    result = program("needs", "pfqg2xi")
    assert (result.returncode, len(result.stdout.splitlines())) == (0, 1)
    assert result.stderr.splitlines()[-1] == "spackscope: This source lists no dependencies"
    assert program.rows("needs", "pfqg2xi") == []

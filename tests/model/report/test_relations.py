from typing import Any

import pytest

from spackscope.model.analysis.compare import Comparison, Difference
from spackscope.model.analysis.needs import NeededSpec, Needs
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency, absent_spec
from spackscope.model.report.detail import needs_line, needs_values
from spackscope.model.report.differences import difference_values
from tests.builders.pages import hash_of
from tests.model.report.test_differences import cause


def spec(
    number: int, package: str, *, virtuals: tuple[str, ...] | None = None, **fields: Any
) -> NeededSpec:
    bare = absent_spec(Dependency(hash_of(number), package))
    described = replace(bare, **{"version": "1.0", **fields})
    return NeededSpec(number, described, is_direct=virtuals is not None, virtuals=virtuals or ())


HDF5 = spec(0, "hdf5", cached=True, size=2_000_000)
MPICH = spec(1, "mpich", cached=True, size=1_000_000, virtuals=("mpi",))
ZLIB = spec(2, "zlib", installed=True, virtuals=())
RUNTIME = spec(3, "gcc-runtime", cached=True, virtuals=())
LIBXML2 = spec(4, "libxml2")
GLIBC = spec(5, "glibc", external="/usr", virtuals=("libc",))


@pytest.mark.parametrize(
    ("needs", "line"),
    [
        (None, "This source lists no dependencies"),
        (Needs((HDF5,), (), ()), "1 spec, 2.0 MB"),
        (Needs((ZLIB,), (), ()), "1 spec, 1 installed"),
        (Needs((RUNTIME,), (), ()), "1 spec, size unknown"),
        (
            Needs((HDF5, MPICH, ZLIB, RUNTIME, LIBXML2), (GLIBC,), (), is_unknown=True),
            "at least 5 specs, 1 installed, 1 not cached, 3.0 MB + 2 unknown",
        ),
    ],
)
def test_needs_are_counted_in_a_line(needs: Needs | None, line: str) -> None:
    assert needs_line(needs) == line


def test_the_most_telling_dependencies_come_first() -> None:
    needs = Needs((HDF5, RUNTIME, ZLIB, LIBXML2, MPICH), (), ())
    first, virtuals, *others, last, download = needs_values(needs)
    assert [each.text for each in others] == ["zlib@1.0", "gcc-runtime@1.0"]
    assert (first.text, first.label, first.total) == ("mpich@1.0", "needs", 4)
    assert (virtuals.text, virtuals.style) == ("(mpi)", "virtual")
    assert (last.text, last.id) == ("libxml2@1.0", LIBXML2.id)
    assert download.text == needs_line(needs)
    (nothing, _) = needs_values(Needs((HDF5,), (), ()))
    assert nothing.text == "nothing else"


def test_hostile_texts_are_cleaned() -> None:
    hostile = spec(0, "a\x1b[31m", version="\n", external="\x1b]0;x\x07", virtuals=("\t",))
    needs = Needs((hostile, hostile), (hostile,), ())
    texts = [value.text for value in needs_values(needs)]
    for text in texts:
        assert text.isprintable()


def test_two_differences_are_named_and_the_rest_counted() -> None:
    version = Difference("version", "1", "2")
    run, build = (
        [cause(version, path=f"p{n}", run=runs) for n in range(4)] for runs in (True, False)
    )
    names = ["p0 1 ≠ 2", "p1 1 ≠ 2", "and 2 more"]
    for causes, told in (
        *((run, names), (build, names), ([], ["no known difference"])),
        (run[:1] + build[1:], ["p0 1 ≠ 2", "p1 1 ≠ 2", "and 2 more"]),
    ):
        lines = difference_values("h" * 32, 5, Comparison(tuple(causes)), runs_the_same=False)
        assert [line.text for line in lines] == ["hhhhhhh", *told]
    alike = difference_values("h" * 32, 5, Comparison(tuple(build[:1])), runs_the_same=True)
    assert "".join(f"{line.lead or ' '}{line.text}" for line in alike) == (
        " hhhhhhh runs the same · build dependencies: p0 1 ≠ 2"
    )

"""Variants are split as Spack prints them."""

from __future__ import annotations

import pytest

from spackscope.model.core.variants import split_variant


@pytest.mark.parametrize(
    ("variant", "parts"),
    [
        ("+mpi", ("mpi", ("+",))),
        ("~mpi", ("mpi", ("~",))),
        ("libs=shared,static", ("libs", ("shared", "static"))),
        ("libs:=shared", ("libs", ("shared",))),
        ("cflags='-O2 -g'", ("cflags", ("-O2 -g",))),
        ("++mpi", ("mpi", ("+",))),
        ("patches=", ("patches", ("",))),
        ("plain", ("plain", ())),
        ("", ("", ())),
    ],
)
def test_a_variant_is_split_into_name_and_values(variant: str, parts: object) -> None:
    assert split_variant(variant) == parts

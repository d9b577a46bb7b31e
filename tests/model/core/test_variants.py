"""Variants are split as Spack prints them."""

import pytest

from spackscope.model.core.records import spell_variant, split_variant, variant_key


@pytest.mark.parametrize(
    ("variant", "parts"),
    [
        *(("+mpi", ("mpi", ("+",))), ("~mpi", ("mpi", ("~",)))),
        *(("libs=a,b", ("libs", ("a", "b"))), ("patches=", ("patches", ("",)))),
        ("libs:=shared", ("libs", ("shared",))),
        ("cflags='-O2 -g'", ("cflags", ("-O2 -g",))),
        *(("++mpi", ("mpi", ("+",))), ("plain", ("plain", ())), ("", ("", ()))),
    ],
)
def test_a_variant_is_split_into_name_and_values(
    variant: str, parts: tuple[str, tuple[str, ...]]
) -> None:
    assert split_variant(variant) == parts
    if variant[:2] != "++" and ":" not in variant and "'" not in variant and parts[1]:
        assert spell_variant(*parts) == variant


@pytest.mark.parametrize(
    ("printed", "before_1_0"),
    [
        ("cuda_arch:=90", "cuda_arch=90"),
        ("cuda_arch:=80,90", "cuda_arch=90,80"),
        ("fabrics:='a b'", "fabrics='a b'"),
    ],
)
def test_a_value_has_one_key_however_it_is_printed(printed: str, before_1_0: str) -> None:
    assert variant_key(printed) == variant_key(before_1_0)


def test_other_values_have_other_keys() -> None:
    texts = ["+mpi", "~mpi", "mpi=1", "mpi=1,2", 'mpi="1,2"', "mpi"]
    assert len(set(map(variant_key, texts))) == len(texts)

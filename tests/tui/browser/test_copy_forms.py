"""The forms in which specs are copied, and what the message says of them."""

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.tui.browser.copy import FORMS, HASH, summary

HASHES = ("a" * 32, "b" * 32, "a" * 32)
SPECS = [
    replace(
        Spec("zlib", hash_, "1.3", "none", "linux", "rhel9", "zen3", (), (), None, "", "specs.md"),
        cached=True,
    )
    for hash_ in HASHES
]
BY_KEY = {form.key: form for form in FORMS}
SLASH, SPEC, INSTALL, JSON, REQUIREMENT = (BY_KEY[key] for key in ("slash", *"siJr"))


def test_each_spec_is_spelled_once_and_on_a_line_of_its_own() -> None:
    assert HASH.spell(SPECS) == f"{HASHES[0]}\n{HASHES[1]}"
    assert SLASH.spell(SPECS[:1]) == f"/{HASHES[0]}"
    assert INSTALL.spell(SPECS[:1]) == f"spack install --cache-only /{HASHES[0]}"
    assert INSTALL.spell([replace(SPECS[0], cached=False)]) == ""


def test_the_message_names_what_is_copied() -> None:
    assert summary(HASH, SPECS[:1], marked=False) == "aaaaaaa…"
    assert summary(SLASH, SPECS[:1], marked=False) == f"/{HASHES[0]}"
    assert summary(HASH, SPECS[:2], marked=True) == "2 marked hashes"
    assert summary(HASH, SPECS[:1], marked=True) == "marked aaaaaaa…"
    assert summary(SPEC, SPECS[:2], marked=True) == "1 spec string of 2 marked"
    assert summary(JSON, SPECS[:2], marked=True) == "2 marked JSON records"
    assert summary(REQUIREMENT, SPECS[:1], marked=False) == "the packages.yaml requirement"


def test_a_spec_without_an_address_is_left_out() -> None:
    tagged = replace(SPECS[0], tag="develop")
    address = f"https://cache.spack.io/?package=zlib&hash={tagged.hash}"
    (address_form,) = (form for form in FORMS if form.key == "o")
    assert address_form.spell([SPECS[1], tagged, tagged]) == address
    assert address_form.spell(SPECS) == ""

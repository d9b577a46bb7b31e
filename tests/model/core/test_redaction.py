"""What may be secret is left out of URLs, and of what only looks like one."""

from __future__ import annotations

import pytest

from spackscope.model.core.redaction import shown_url, without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((same, same) for same in ("plain", "a#b", "https://host/x", "zlib@1.3 %gcc@13")),
        ("host/x?token=t", "host/x?…"),
        ("ann:pw@host/x", "…@host/x"),
        ("https://ann:pw@host/x", "https://host/x"),
        ("https://host/x?token=t", "https://host/x?…"),
        ("https://ann:pw@host/x?token=t#part", "https://host/x?…"),
        ("https://host/x#token=t", "https://host/x"),
    ],
)
def test_secrets_are_left_out_of_a_url_and_of_a_sentence_with_it(text: str, shown: str) -> None:
    assert shown_url(text) == shown
    assert without_secrets(f"cannot read {text}: no answer") == f"cannot read {shown}: no answer"

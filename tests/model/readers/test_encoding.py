"""Documents are decoded by their byte order mark."""

from __future__ import annotations

import pytest

from spackscope.model.core.errors import Unreadable
from spackscope.model.readers.encoding import decode


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_page_is_decoded_by_its_byte_order_mark(encoding: str) -> None:
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""

    assert decode((mark + "---\nnaïve").encode(encoding)) == "---\nnaïve"


def test_bytes_that_are_no_text_are_named_by_their_offset() -> None:
    with pytest.raises(Unreadable, match=r"^byte 2 is not UTF-8 text$"):
        decode("naïve".encode("latin-1"))
    with pytest.raises(Unreadable, match=r"^byte \d is not UTF-16 text$"):
        decode(b"\xff\xfea\x00b")

"""Parse JSON a value at a time, so that none takes more memory than all others together."""

from __future__ import annotations

import json
from typing import Any

from spackscope.model.core.errors import ValueTooLong
from spackscope.model.readers.limits import MAX_RECORD_LENGTH, MAX_VALUES

_FIRST = 2**13
_NEXT = 2**5
# The longest of what cannot be told from a mistake where it is cut: a pair of \u escapes.
_LONGEST_TOKEN = 16


def too_many_values(text: str) -> str:
    """Return why a text is not parsed as a whole, or nothing where it may be.

    Each value but the first follows a bracket, a brace or a comma: counting these takes a
    hundredth of the time of parsing, and counts no value too few.
    """
    if len(text) <= MAX_VALUES:
        return ""
    count = text.count("[") + text.count("{") + text.count(",")
    return f"it has {count:,} values; at most {MAX_VALUES:,} are read" * (count > MAX_VALUES)


def decode_at(
    decoder: json.JSONDecoder, text: str, at: int, largest: int = MAX_RECORD_LENGTH
) -> tuple[Any, int]:
    """Parse the value at a place as `raw_decode` does; return it with the place behind it.

    Of a longer text no more than some more characters than the value has are looked at. Raises
    json.JSONDecodeError, RecursionError, and ValueTooLong where the value has more than `largest`.
    """
    size = _FIRST
    while size < len(text) - at:
        try:
            value, end = decoder.raw_decode(text[at : at + size])
        except json.JSONDecodeError as error:
            is_cut = error.pos >= size - _LONGEST_TOKEN or error.msg.startswith("Unterminated")
            if not is_cut:
                raise json.JSONDecodeError(error.msg, text, at + error.pos) from None
        else:
            # A number that is cut is another number.
            if end < size:
                return value, at + end
        if size >= largest:
            raise ValueTooLong(f"more than {largest:,} characters of one record at character {at}")
        size = min(size * _NEXT, largest)
    return decoder.raw_decode(text, at)

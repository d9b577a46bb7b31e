"""Parse a database record by record, so that its records are never in memory all at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from spackscope.model.core.errors import (
    Unreadable,
    ValueTooLong,
)
from spackscope.model.core.records import is_hash
from spackscope.model.readers.bounded_json import (
    decode_at,
)
from spackscope.model.readers.json import (
    DECODER,
    Number,
    Parsed,
    collector_paused,
    more_behind,
    note_repeated,
    skip_space,
)

Take = Callable[[str, Any], Any]
"""Makes of a record, given with its hash, what is to be kept of it.

Raises Unreadable where there were too many.
"""

Begin = Callable[[dict[str, Any]], Take]
"""Begins to take records, given what stands before them in the database."""

_DATABASE = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"database"[ \t\r\n]*:[ \t\r\n]*\{')


def begins_a_database(text: str) -> bool:
    """Tell whether a text begins as Spack's databases do, which have no other key."""
    return _DATABASE.match(text) is not None


def load_database(text: str, begin: Begin) -> Parsed:
    """Parse a database as `json_text.load` does, but keep of each record only what is made of it.

    Raises Unreadable.
    """
    walk = _Walk(text, begin)
    try:
        with collector_paused():
            end = walk.members(skip_space(text, 0), walk.document, ("database", "installs"))
    except RecursionError:
        if not walk.starts:
            raise Unreadable("it is nested too deeply") from None
        reason = f"it is nested too deeply behind character {max(walk.starts.values())}"
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at character {error.pos}"
    except (ValueTooLong, Unreadable) as error:
        reason = str(error)
    else:
        end = skip_space(text, end)
        behind = (more_behind(end),) if end < len(text) else ()
        return Parsed(walk.document, (*behind, *walk.remarks))
    remark = f"it breaks off ({reason}); what stands before is read"
    return Parsed(walk.document, (remark, *walk.remarks))


class _Walk:
    """Go through the mappings around the records; the document grows on the way."""

    def __init__(self, text: str, begin: Begin) -> None:
        self._text = text
        self._begin = begin
        self.document: dict[str, Any] = {}
        self.remarks: dict[str, None] = {}
        self.starts: dict[str, int] = {}

    def members(self, at: int, members: dict[str, Any], way: tuple[str, ...]) -> int:
        """Read the mapping at a place into `members`, entering those on the way; give its end.

        Raises json.JSONDecodeError, RecursionError, ValueTooLong and what takes records raises.
        """

        def read(key: str, at: int) -> int:
            if key in members and key == way[0]:
                note_repeated(self.remarks, key, None, None)
            if key != way[0] or not self._text.startswith("{", at):
                value, at = decode_at(DECODER, self._text, at)
                # A number that the text ends with may go on.
                if type(value) is not Number or skip_space(self._text, at) < len(self._text):
                    members[key] = value
                return at
            inner = members[key] = {}
            if way[1:]:
                return self.members(at, inner, way[1:])
            return self._records(at, inner, self._begin(members))

        return self._each(at, read)

    def _records(self, at: int, installs: dict[str, Any], take: Take) -> int:
        text, starts = self._text, self.starts
        starts.clear()

        def read(key: str, at: int) -> int:
            record, end = decode_at(DECODER, text, at)
            if key in starts and is_hash(key):
                before, _ = decode_at(DECODER, text, starts[key])
                note_repeated(self.remarks, key, before, record)
            starts[key] = at
            installs[key] = take(key, record)
            return end

        return self._each(at, read)

    def _each(self, at: int, read: Callable[[str, int], int]) -> int:
        """Go from key to key, leaving it to `read` to go over the values."""
        text = self._text
        at = skip_space(text, at + 1)
        if text.startswith("}", at):
            return at + 1
        while True:
            if not text.startswith('"', at):
                raise self._error("Expecting property name enclosed in double quotes", at)
            key, at = DECODER.raw_decode(text, at)
            at = skip_space(text, at)
            if not text.startswith(":", at):
                raise self._error("Expecting ':' delimiter", at)
            at = skip_space(text, read(key, skip_space(text, at + 1)))
            if text.startswith("}", at):
                return at + 1
            if not text.startswith(",", at):
                raise self._error("Expecting ',' delimiter", at)
            at = skip_space(text, at + 1)

    def _error(self, message: str, at: int) -> json.JSONDecodeError:
        return json.JSONDecodeError(message, self._text, at)

"""Find the one spec that an argument of a command names: by a hash prefix or by a query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from spackscope.model.core.records import HASH_LENGTH
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.model.index.view import View
from spackscope.model.query.ast import Query
from spackscope.model.sources.session import Session
from spackscope.tui.cli import table
from spackscope.tui.cli.commands.common import no_match, no_match_code, parse_query
from spackscope.tui.process.exit_codes import ExitCode, Leave

_MAX_CANDIDATES = 20
_HASH_PREFIX = re.compile(rf"/?[a-z2-7]{{1,{HASH_LENGTH}}}")


class SpecArgument:
    """A spec as a user names it: a hash prefix, or a query that only one hash matches.

    Raises Leave, with a caret under the error, where the query has one.

        hash_ = SpecArgument(["hdf5", "+mpi", "os=rocky9"], session).find(catalog)
    """

    def __init__(self, words: Sequence[str], session: Session) -> None:
        self._prefix = _hash_prefix(words)
        is_hash = self._prefix.startswith("/")
        self._query = Query() if is_hash else parse_query(words, session)

    def find(self, catalog: Catalog) -> str:
        """Return the only hash that it names.

        Raises Leave where there is none, or with candidates where there are several.
        """
        prefix, query = self._prefix.removeprefix("/"), self._query
        limit = _MAX_CANDIDATES + 1
        hashes = catalog.hashes(prefix, limit=limit) if prefix else []
        several, none = f"Several hashes start with {prefix}:", f"No hash starts with {prefix}"
        if query and (not hashes or prefix in catalog.texts("package")):
            specs = catalog.specs(catalog.listing(View(query)))
            matches = list(islice(dict.fromkeys(spec.hash for spec in specs), limit))
            if not matches:
                raise no_match(catalog, query, none if prefix else "")
            hashes, several = matches, "Several specs match, give the hash of one:"
        if not hashes:
            raise Leave(no_match_code(catalog), none)
        if len(hashes) == 1:
            return hashes[0]
        candidates = [catalog.by_hash(hash_)[0].spec for hash_ in hashes[:_MAX_CANDIDATES]]
        lines = [several, *(f"  {line}" for line in table.candidates(candidates))]
        if len(hashes) > _MAX_CANDIDATES:
            lines.append("  and more")
        raise Leave(ExitCode.USAGE, *lines)


def _hash_prefix(words: Sequence[str]) -> str:
    """Return the hash prefix that the words may be, or "".

    A prefix after a `/` keeps it, and cannot be anything else.
    """
    word = words[0].strip().lower() if len(words) == 1 else ""
    return word if _HASH_PREFIX.fullmatch(word) else ""


def listing_row(catalog: Catalog, hash_: str) -> Row:
    """Return the first record of a hash whose source lists dependencies, else the first."""
    rows = catalog.by_hash(hash_)
    return next((row for row in rows if catalog.edges.lists(row.id)), rows[0])

"""The answers: each module is a whole answer with its command, and is found by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    # The names of the answers are read at each start.
    from spackscope.model.index.catalog import Catalog
    from spackscope.model.query.ast import Query
    from spackscope.model.report.sheet import Sheet
    from spackscope.model.sources.session import Session


class Asked(Protocol):
    """A question; it opens sources, and understands words as the command line does.

    `words` follow the name of the answer, and `options` has the values of given options, by their
    fields. `sources` are named by the user, or open, if `are_sources_chosen`, else configured. An
    answer that rests on the configuration of Spack, too, sets `rests_on_configuration`; problems
    with it are then shown with the answer.
    """

    words: Sequence[str]
    sources: Sequence[str]
    session: Session
    options: Mapping[str, Any]
    rests_on_configuration: bool
    are_sources_chosen: bool

    def show(self, sheet: Sheet[Any]) -> None:
        """Show the first part of an answer that takes long."""

    def load(self, *groups: Sequence[str]) -> Sequence[Catalog]:
        """Load a catalog for each group of sources, and show their problems.

        Raises SourceError, Cancelled.
        """

    def query(self, words: Sequence[str]) -> Query:
        """Parse the words of a query. Raises SpackscopeError, which shows where it is wrong."""

    def option(self, name: str) -> str:
        """Return the words that turn an option on: an option of the shell, or a key."""

    def hash_prefix(self) -> str:
        """Return the start of a hash that the only word may be, or an empty text."""

    def find_hash(self, catalog: Catalog, words: Sequence[str]) -> str:
        """Return the only hash that words name: the start of a hash, or a query for one spec.

        Raises SpackscopeError if the words name no spec, or, with candidates, if they name more.
        """

    def no_match(self, catalog: Catalog, query: Query, sentence: str = "") -> Exception:
        """Return the exception to raise if no spec matches, with the reason and a suggestion."""

    def read_hashes(self, path: str, shown: str) -> tuple[list[str], int] | None:
        """Read the hashes of a list, and count the lines without one, which are shown.

        None if the file is a document. Raises SpackscopeError, with the file as it is `shown`.
        """

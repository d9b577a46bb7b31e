"""What workers tell the screen; each says which request it answers."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from spackscope.model.assist.completion import Completions
from spackscope.model.assist.diagnostics import Note
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import Tree
from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.packages import PackageCount
from spackscope.model.core.column import Column
from spackscope.model.query.parsed_input import ParsedInput
from spackscope.tui.widgets.row_windows import Windows


@dataclass
class Progress(Message):
    """Tell how far the reading of the sources is; only the newest matters."""

    generation: int
    said: str

    def can_replace(self, message: Message) -> bool:
        """Let a newer progress take the place of one not yet seen."""
        return isinstance(message, Progress)


@dataclass
class Loaded(Message):
    """Hand over a catalog; `checked` tells whether its documents were looked at."""

    generation: int
    catalog: Catalog
    checked: bool


@dataclass
class Damaged(Message):
    """Tell that an index turned out to be damaged while it was read, and how."""

    catalog: Catalog
    reason: str


@dataclass
class RowsRead(Message):
    """Hand over windows of rows."""

    listing: Listing
    windows: Windows


@dataclass
class TreeUnfolded(Message):
    """Hand over a tree with one more line unfolded."""

    tree: Tree
    unfolded: Tree


@dataclass
class Prepared(Message):
    """Tell that the edges of a catalog are read, so that trees can be shown at once."""

    catalog: Catalog


@dataclass
class Sized(Message):
    """Hand over the bytes of the archive of a hash; None where its mirror cannot tell."""

    hash: str
    size: float | None


@dataclass
class LoadFailed(Message):
    """Say in one sentence why there is no catalog."""

    generation: int
    reason: str


@dataclass
class Answered(Message):
    """Hand over the packages and the rows that a view shows, and in which columns.

    `telling` names the columns with more than one value, whatever the filters are, and
    `virtuals` says which packages stand for a virtual one in the query.
    """

    generation: int
    packages: list[PackageCount]
    listing: Listing
    columns: list[Column]
    telling: frozenset[str]
    why_none: str
    virtuals: str = ""


@dataclass
class Refused(Message):
    """Tell that the rows stay as they are, and what is wrong with the view asked for.

    `note` is None where a word is only not typed to its end. `unanswerable` tells that the view
    can have no rows at all, since the records do not say as much.
    """

    generation: int
    note: Note | None
    unanswerable: bool = False


@dataclass
class Offered(Message):
    """Hand over the completions of the word at the cursor."""

    typed: ParsedInput
    completions: Completions

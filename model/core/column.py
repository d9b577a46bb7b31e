"""What there is to know of a column. The columns themselves are in `columns`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from typing import Any, Literal

from spackscope.model.core.cells import text_cell
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import Spec

Value = str | tuple[str, ...] | float | None

PER_RECORD = "spec"
"""The storage of columns in which each record has a value of its own."""

BY_HOST = "host"
"""The storage of columns whose values depend on the host, which an index does not have."""


class Column(Frozen):
    """One column.

    `name` is its key in a query, and by default all of these: `label` is its head, `storage` the
    table of the index that has its values, each once (a dictionary, which columns may share), and
    `attribute` the attribute of a record that is stored there. A column with `derive` stores
    none; it computes its value from the attributes that others store.

    Orders count from 1; 0 leaves the column out, and those with the same order are in the order
    of the registry.
    """

    name: str
    label: str = ""
    storage: str = ""
    attribute: str = ""

    # The value.
    derive: Callable[[Any], Value] | None = None
    """Computes the value from a record, or from an entry of the dictionary, alike."""
    is_list: bool = False
    """Whether the value is a tuple of texts, not a text."""
    restores: tuple[str, ...] = ()
    """The fields of `Spec` that a stored value stands for, if not the attribute."""
    restore: Callable[[Any], tuple[Any, ...]] = lambda value: (value,)
    """Returns the values of these fields."""
    value: Callable[[Any], Value] = field(init=False)
    """Returns the value of a record, or of an entry of the dictionary."""
    sort_key: Callable[[Any], Any] = lambda value: value

    # In a query.
    syntax: Literal["spack", "spec", "record"] = "record"
    """Who knows the key: Spack, or spackscope, for any spec or only for whole records."""
    aliases: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    """The words that mean a value without the key, and these values."""
    once: bool = False
    """Whether Spack refuses a spec that states it twice."""
    completes: tuple[Literal["key", "values"], ...] = ("key", "values")
    sigil: str | None = None
    """What a completion writes before a value; None: the key and `=`."""

    # In the table.
    format: Callable[[Any], str] = text_cell
    """Spells a value as a cell."""
    shown: Literal["always", "if_any", "if_varied", "if_named", "never"] = "if_varied"
    width: int = 0
    """Cells of the longest value, for columns with a value for each record."""
    min_width: int = 99
    """Cells below which it is left out rather than cut."""
    align_right: bool = False
    cut_at_end: bool = False
    """Whether its texts are lists whose beginning counts; others are cut in the middle."""

    # In the title of the table, where all rows have the same value.
    in_title: Callable[[Collection[Value]], bool] = lambda values: True
    """Whether it is worth a mention, by the values in the whole index."""
    title: Callable[[Any], str] | None = None
    """Spells the value; None: as a cell."""

    # In the detail pane.
    detail_order: int = 50
    empty_in_detail: Callable[[Spec], bool] = lambda spec: False
    """Whether a record without a value has a line for it."""

    # In the output of commands.
    in_find: bool = True
    """Whether the table of `find` has it."""
    find_prefix: str | None = ""
    """What precedes the value that all rows share; None leaves the value out."""
    export_order: int = 50

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "storage", self.storage or self.name)
        if self.derive is None:
            object.__setattr__(self, "attribute", self.attribute or self.name)
            object.__setattr__(self, "restores", self.restores or (self.attribute,))
        object.__setattr__(self, "value", self.derive or attrgetter(self.attribute))

    def cell(self, value: Value) -> str:
        """Return a value, or one text of a list, as a cell: clean, on one line, in full length."""
        is_text_of_list = self.is_list and isinstance(value, str)
        return text_cell(value) if is_text_of_list else self.format(value)

    @property
    def keys(self) -> tuple[str, ...]:
        """Its keys in a query."""
        return (self.name, *self.aliases)

    @property
    def json_key(self) -> str:
        """Its key in JSON and CSV."""
        return self.attribute or self.name

    @property
    def has_dictionary(self) -> bool:
        """Whether the index has a dictionary of its values, which many records share."""
        return self.storage not in (PER_RECORD, BY_HOST)

    @property
    def is_by_host(self) -> bool:
        """Whether its values depend on the host."""
        return self.storage == BY_HOST

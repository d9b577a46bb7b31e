"""Which column or variant is under the cursor, in any pane."""

from __future__ import annotations

from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.variants import split_variant
from spackscope.model.index.facets import VARIANTS, FacetKey, variant_texts
from spackscope.model.query.ast import exact_term
from spackscope.tui.browser.state import Host

Found = tuple[FacetKey | None, str | None]


def under_cursor(host: Host) -> Found:
    """Return the column or variant under the cursor, and its value there if it is one value."""
    where, state = host.where, host.state
    if where.pane == "packages":
        selected = state.results.selected if state.results is not None else None
        return FacetKey("package"), selected.name if selected is not None else None
    if where.pane == "facets":
        return where.facet or (None, None)
    if where.pane == "detail":
        return _of_detail(host)
    spec = where.row.spec if where.row is not None else None
    if where.column.startswith("+"):
        name = where.column[1:]
        texts = [variant_texts(text) for text in spec.variants] if spec is not None else []
        values = [value for its_name, own in texts if its_name == name for value in own]
        return FacetKey(VARIANTS, name), values[0] if len(values) == 1 else None
    if where.column not in BY_NAME:
        return None, None
    value = BY_NAME[where.column].value(spec) if spec is not None else None
    return FacetKey(where.column), value if isinstance(value, str) else None


def _of_detail(host: Host) -> Found:
    where = host.where
    if where.term is None or where.row is None or where.term.column not in BY_NAME:
        return None, None
    column, value = where.term.column, BY_NAME[where.term.column].value(where.row.spec)
    if column == VARIANTS:
        return FacetKey(VARIANTS, split_variant(where.term.pattern)[0]), where.term.pattern
    values = value if isinstance(value, tuple) else (str(value),)
    return FacetKey(column), next((v for v in values if exact_term(column, v) == where.term), None)

"""The forms in which a view is copied: all specs that match, whatever is folded or marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from spackscope.model.core.errors import QueryError, SourceError
from spackscope.model.core.text import is_clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.model.report import export
from spackscope.model.report.paste import query_requirement, view_command
from spackscope.model.sources.session import Session
from spackscope.tui.browser.rows import shown_ids
from spackscope.tui.copy_forms import ViewForm

_MAX_NAMED = 3
"""Conditions that are named at most as not being in a text."""


def view_forms(
    catalog: Catalog, view: View, sources: Sequence[str], session: Session
) -> list[ViewForm]:
    """Return the forms of a view, without those in which it cannot be written."""
    return [
        *_command(view, sources, session),
        *_requirement(view),
        *_lists(catalog, view),
    ]


def _command(view: View, sources: Sequence[str], session: Session) -> Iterator[ViewForm]:
    try:
        command = view_command(sources, view.query, session)
    except (QueryError, SourceError):
        return
    text = command.text
    # The name of a source may contain anything.
    if is_clean(text):
        yield ViewForm(
            "c", "command line", text, "the command line", lambda: text, after=command.remark
        )


def _requirement(view: View) -> Iterator[ViewForm]:
    requirement = query_requirement(view.query)
    if text := requirement.text:
        named = requirement.left_out[:_MAX_NAMED]
        more = len(requirement.left_out) - len(named)
        after = "without " + ", ".join(named) if named else ""
        yield ViewForm(
            "R",
            "packages.yaml, from the query",
            " ".join(line.strip() for line in text.splitlines()[1:]),
            "the requirement",
            lambda: text,
            after=f"{after} and {more} more" if more else after,
        )


def _lists(catalog: Catalog, view: View) -> Iterator[ViewForm]:
    def read(format_: export.Format) -> str:
        return "\n".join(format_.lines(catalog, shown_ids(catalog, view)))

    yield ViewForm(
        "h",
        "hashes",
        "one a line, as find --hashes prints them",
        "all shown hashes",
        partial(read, export.BY_NAME["hashes"]),
    )
    lists_dependencies = catalog.lists_dependencies
    yield ViewForm(
        "p",
        "keep-list",
        "these hashes and what they need to run, for spack buildcache prune --keeplist",
        "the keep-list",
        partial(read, export.BY_NAME["keep-list"]),
        after="" if lists_dependencies else export.NO_DEPENDENCIES,
    )

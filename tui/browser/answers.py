"""What the keys of answers ask: about the specs under the cursor or the marks, or the sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from glob import escape
from itertools import permutations
from typing import Any

from spackscope.model.analysis.cover import environments
from spackscope.model.core.columns import COUNTED, SHORT_HASH, spec_name
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.load import STILL_LOADING
from spackscope.model.query.ast import exact_query
from spackscope.model.sources.source_name import tag_sources
from spackscope.tui.browser import jobs
from spackscope.tui.browser.sheets import Sheets, source_text
from spackscope.tui.browser.state import LOADING, diff_words
from spackscope.tui.browser.values import under_cursor
from spackscope.tui.dialogs.dialog import Pick, PickDialog
from spackscope.tui.keymap import shown

_PROBLEMS = "problems of the sources"
"""The label of the sources with their problems."""


def nothing_to_compare() -> str:
    """Return a message on how to compare specs."""
    mark, diff = shown("specs-mark"), shown("diff")
    return f"Mark two rows ({mark}), or go to a row with look-alikes, then press {diff}."


def diff(sheets: Sheets) -> None:
    """Compare the marked rows, or the look-alikes of the row under the cursor."""
    state = sheets.host.state
    catalog, listing, selected = state.catalog, state.listing, state.selected
    compared = state.to_compare(sheets.host.where.item)
    hash_ = selected.spec.hash if selected is not None else ""
    if compared is None and state.table.sheet.switches:
        sheets.leave()
    elif compared is None:
        sheets.host.say(nothing_to_compare())
    elif compared.hashes:
        _diff(sheets, hash_, compared.hashes)
    elif catalog is None or selected is None:
        sheets.host.say(LOADING, error=True)
    else:
        ids = listing.look_alike_ids(selected.look_alike) if listing is not None else ()
        if len(ids) < 2:
            # Only one look-alike is shown: compare all in the index.
            ids = range(*selected.catalog.span(selected.look_alike))
        reading = partial(_diff, sheets, hash_, name=_name(selected))
        sheets.host.run(lambda _: catalog.hashes.of(ids), reading, jobs.MENU)


def _diff(sheets: Sheets, column: str, hashes: Sequence[str], name: str = "") -> None:
    label = f"compare {_named(sheets, hashes, name)}"
    sheets.ask("diff", *diff_words(hashes), column=column, label=label)


def _named(sheets: Sheets, hashes: Sequence[str], name: str = "") -> str:
    """Name some specs: their number, or their hash, and what they have in common.

    `name` is that of all, by default the name of the marks and of the row, if it is the same.
    """
    state, row = sheets.host.state, sheets.host.where.row
    names = {spec.hash: spec.title for spec in state.marked}
    names |= {each.spec.hash: _name(each) for each in (row, state.selected) if each}
    known = {name or names.get(hash_, "") for hash_ in hashes}
    common = known.pop() if len(known) == 1 else ""
    if len(hashes) == 1:
        return f"{common} /{hashes[0][:SHORT_HASH]}".strip()
    return f"{len(hashes):,} builds of {common}" if common else counted(len(hashes), "spec")


def sources(sheets: Sheets) -> None:
    """List the sources; in that list, switch to their problems or back."""
    opened = sheets.host.state.table
    if opened.name == "sources":
        sheets.switch("problems", label="" if opened.options.get("problems") else _PROBLEMS)
    else:
        sheets.ask("sources")


def problems(sheets: Sheets) -> None:
    """List the problems of all sources."""
    sheets.ask("sources", options={"problems": True}, label=_PROBLEMS)


def why(sheets: Sheets) -> None:
    """Show why Spack does not reuse the marked specs, or the builds of the row."""
    row, state = sheets.host.where.row, sheets.host.state
    if marks := state.marks_in_sight:
        _why(sheets, [spec.hash for spec in marks])
    elif row is None or state.results is None:
        sheets.host.say(state.why_no_spec(sheets.host.where))
    elif row.count == 1:
        _why(sheets, [row.spec.hash])
    else:
        hashes, ids = state.results.catalog.hashes, state.results.listing.ids_of(row)
        ask = partial(_why, sheets, name=_name(row))
        sheets.host.run(lambda _: hashes.of(ids), ask, jobs.MENU)


def _why(sheets: Sheets, hashes: Sequence[str], name: str = "") -> None:
    is_one = len(hashes) == 1
    words = f"/{hashes[0]}" if is_one else str(exact_query("hash", *hashes))
    sheets.ask("why", words, label=f"reuse of {_named(sheets, hashes, name)}")


def cover(sheets: Sheets, hosts: Sequence[str] = ()) -> None:
    """Show the coverage of the environments, or else of the stacks, on hosts if any are given.

    Ask for a further source if there is nothing to compare, and where coverage is shown.
    """
    catalog, opened = sheets.host.state.newest, sheets.host.state.table
    again = partial(cover, sheets, hosts)
    if catalog is None:
        _ask_when_loaded(sheets, "cover", again)
        return
    if opened.name == "cover" and not hosts:
        sheets.host.act("open", "cover")
        return

    def read(_: object) -> tuple[Sequence[str], bool]:
        return environments(catalog), any(catalog.values("stack"))

    def take(found: tuple[Sequence[str], bool]) -> None:
        names, has_stacks = found
        is_alone = len(names) == len(catalog.sources)
        is_late = not names and sheets.host.is_running(jobs.LOAD)
        if is_alone or is_late or not (names or has_stacks or hosts):
            _ask_when_loaded(sheets, "cover", again)
            return
        given = [_given(sheets, catalog, name) for name in names]
        choose = partial(_cover_of, sheets) if len(given) > 1 else None
        options = {"hosts": tuple(hosts)} if hosts else {}
        label = f"coverage of {', '.join(map(source_text, names)) or 'the stacks'}"
        label += f" on {', '.join(hosts)}" if hosts else ""
        sheets.ask("cover", *given, choose=choose, options=options, label=label)
        if not names:
            sheets.host.say(f"{shown('cover')} adds an environment, or a host to run on")

    sheets.host.run(read, take, jobs.MENU)


def _cover_of(sheets: Sheets, row: Any) -> None:
    sheets.ask("cover", row.name, label=f"coverage of {source_text(row.name)}")


def diff_sources(sheets: Sheets) -> None:
    """Show the changes from the first source to the second, or between two chosen sources.

    Ask for a second source where one is open.
    """
    sheets.host.cancel(jobs.ASK_AGAIN)
    catalog = sheets.host.state.newest
    names = [source.name for source in catalog.sources] if catalog is not None else []
    if len(names) == 1:
        names = tag_sources(sheets.host.sources[0])
    if catalog is None or len(names) < 2:
        _ask_when_loaded(sheets, "diff_sources", partial(diff_sources, sheets))
    elif len(names) == 2:
        _diff_sources(sheets, catalog, names)
    else:
        picks = [Pick(pair, _pair_text(pair)) for pair in permutations(names, 2)]
        title = "what changed from one source to another"
        dialog = PickDialog(title, "pair", picks, choose="diff")
        sheets.host.open(dialog, partial(_diff_sources, sheets, catalog))


def _diff_sources(sheets: Sheets, catalog: Catalog, names: Sequence[str]) -> None:
    given, label = [_given(sheets, catalog, name) for name in names], _pair_text(names)
    sheets.ask("diff", *given, names_sources=True, label=f"changes: {label}")


def files(sheets: Sheets, **options: bool) -> None:
    """Show the files of the spec under the cursor; in a sheet of files, add options to it."""
    row, opened = sheets.host.where.row, sheets.host.state.table
    if options and opened.name == "files":
        options = {**opened.options, **options}
        sheets.open(opened.unread().changed(options=options))
    elif row is None:
        sheets.host.say(sheets.host.state.why_no_spec(sheets.host.where))
    else:
        fields = {"choose": partial(_files_named, sheets), "choose_hint": "who has it"}
        label = f"files in {_named(sheets, [row.spec.hash])}"
        sheets.ask("files", f"/{row.spec.hash}", options=options, label=label, **fields)


def _files_named(sheets: Sheets, row: Any) -> None:
    """Show the files of the same name in the specs that are shown."""
    name = row.file.path.rpartition("/")[2]
    sheets.ask_shown("files", f"who has {name}", having=escape(name))


def stats(sheets: Sheets) -> None:
    """Count the rows by the column under the cursor, or by one that is chosen."""
    opened = sheets.host.state.table
    if opened.name == "stats":
        first, *_ = opened.options["by"]
        _pick_name(
            sheets, f"count by {clean(first)} and by", partial(_count_by, sheets, first), first
        )
        return
    if opened.name:
        undo, key = shown("undo"), shown("stats")
        sheets.host.say(f"Only the specs of the table are counted: go back ({undo}), then {key}")
        return
    section, _ = under_cursor(sheets.host)
    if sheets.host.state.catalog is None:
        sheets.host.say("Nothing to count yet", error=True)
    elif section is None or section.column not in COUNTED:
        _pick_name(sheets, "count by", partial(_count_by, sheets))
    else:
        _count_by(sheets, section.variant or section.column)


def _count_by(sheets: Sheets, *names: str) -> None:
    sheets.ask_shown("stats", f"count by {' and '.join(names)}", by=names)


def _pick_name(
    sheets: Sheets, title: str, take: Callable[[str], object], besides: str = ""
) -> None:
    """Ask for a column or a variant in which the rows differ; `besides` is not offered."""
    if (results := sheets.host.state.results) is None:
        return
    values = results.listing.values
    names = [name for name in COUNTED if name not in values.constants]
    ranks = values.varying_variants
    names += sorted(ranks, key=ranks.__getitem__)
    picks = [Pick(name, clean(name)) for name in names if name != besides]
    dialog = PickDialog(title, "name", picks, choose="count")
    sheets.host.open(dialog, take)


def _ask_when_loaded(sheets: Sheets, action: str, ask: Callable[[], object]) -> None:
    """Ask again as long as sources are being read; else have a source added for the action."""
    if sheets.host.is_running(jobs.LOAD):
        sheets.host.say(STILL_LOADING)
        sheets.host.run(lambda _: None, lambda _: ask(), jobs.ASK_AGAIN)
    else:
        sheets.host.act("open", action)


def _given(sheets: Sheets, catalog: Catalog, name: str) -> str:
    """Return the source of a name as it was given."""
    # A catalog lists its sources in the order given.
    names = [source.name for source in catalog.sources]
    sources = sheets.host.sources
    given = dict(zip(names, sources, strict=True)) if len(names) == len(sources) else {}
    return given.get(name, name)


def _name(row: Row) -> str:
    return spec_name(row.spec.package, row.spec.version)


def _pair_text(names: Sequence[str]) -> str:
    """Name two sources, an old and a new one."""
    return " → ".join(map(source_text, names))


ASK: Mapping[str, Callable[[Sheets], object]] = {
    "stats": stats,
    "diff": diff,
    "cover": cover,
    "diff_sources": diff_sources,
    "why": why,
    "files": files,
    "files_download": partial(files, download=True),
    "sources": sources,
}
"""What an answer is asked by its key; others are asked about the specs that are shown."""

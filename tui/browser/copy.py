"""Copy the row under the cursor, the marked rows, the detail, or the whole view.

No spec is copied silently in place of another: of a folded row the hash that it shows is copied,
and the message says of how many, and why this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.errors import QueryError, SourceError
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Spec, is_hash
from spackscope.model.core.text import clean, cut_list, is_clean
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.order import View
from spackscope.model.query.ast import query_of
from spackscope.model.report.export import json_text
from spackscope.model.report.paste import (
    ViewCommand,
    command_line,
    install_command,
    query_requirement,
    spec_requirement,
    spec_string,
    spelled_source,
    view_command,
)
from spackscope.model.report.titles import spec_title
from spackscope.model.report.writers import markdown
from spackscope.model.sources.session import Session
from spackscope.model.sources.site_url import record_url, site_url
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import CopyDone
from spackscope.tui.browser.specs import hidden_marks, of_several
from spackscope.tui.browser.state import LOADING, NO_ROWS, NO_SPEC, BrowserState, OpenTable, Where
from spackscope.tui.dialogs.dialog import Pick, PickDialog
from spackscope.tui.keymap import shown, shown_key

if TYPE_CHECKING:
    from spackscope.model.report.sheet import Sheet
    from spackscope.tui.browser.screen import Controllers


class CopyForm(Frozen):
    """A form to copy: its key in the menu, its name, its plural, and a function to spell specs.

    Specs without this form are left out; the text is empty if no spec has it.
    """

    key: str
    name: str
    plural: str
    spell: Callable[[Sequence[Spec]], str]


def _line_by_line(spell: Callable[[Spec], str]) -> Callable[[Sequence[Spec]], str]:
    """Spell specs one by one: each on a line of its own, once, without a final line end."""
    return lambda specs: "\n".join(dict.fromkeys(filter(None, map(spell, specs))))


def _install_command(specs: Sequence[Spec]) -> str:
    cached = [spec for spec in specs if spec.cached]
    return install_command(*cached) if cached else ""


FORMS = (
    HASH := CopyForm("y", "hash", "hashes", _line_by_line(lambda spec: spec.hash)),
    CopyForm(
        "slash",
        "/hash, as Spack takes it",
        "hashes in one line",
        lambda specs: " ".join(dict.fromkeys(f"/{spec.hash}" for spec in specs)),
    ),
    CopyForm("s", "spec string", "spec strings", _line_by_line(spec_string)),
    CopyForm("i", "install command", "specs in one install command", _install_command),
    CopyForm("J", "JSON", "JSON records", _line_by_line(json_text)),
    CopyForm("r", "packages.yaml requirement", "requirements", spec_requirement),
    CopyForm("o", "address on cache.spack.io", "addresses", _line_by_line(record_url)),
)
"""All forms, in the order of the menu."""

ALL_MARKS = CopyForm("a", "hashes of all marked specs", "hashes", HASH.spell)
"""The form of marked specs that are not all in sight: it copies all of them."""


class ViewForm(Frozen):
    """A form of all specs that are shown: its key, its name, and an example of it.

    `read` returns the text, and may take long. A message names the text by `what`, and ends with
    `after`, a remark for the user, if any.
    """

    key: str
    name: str
    example: str
    what: str
    read: Callable[[], str]
    after: str = ""


def _texts(form: CopyForm, specs: Sequence[Spec]) -> list[str]:
    """Return the different texts that specs have in a form."""
    return [*dict.fromkeys(filter(None, (form.spell([spec]) for spec in specs)))]


def summary(form: CopyForm, specs: Sequence[Spec], *, marked: bool) -> str:
    """Return a short name of the copied text: the beginning of a hash, a text, or a count.

    >>> summary(HASH, [spec], marked=False)
    '2ggad67…'
    """
    if marked and len(specs) > 1:
        count = len(_texts(form, specs))
        if count == len(specs):
            return f"{count:,} marked {form.plural}"
        return f"{count:,} {form.name if count == 1 else form.plural} of {len(specs):,} marked"
    text = form.spell(specs)
    if "\n" in text:
        return f"the {form.name}"
    text = f"{text[:SHORT_HASH]}…" if form is HASH else text
    return f"marked {text}" if marked else text


def examples(specs: Sequence[Spec]) -> Mapping[CopyForm, str]:
    """Return the forms that specs have, each with an example: for a worker thread."""
    found = {}
    for form in FORMS:
        if texts := _texts(form, specs):
            first, others = texts[0].splitlines()[-1].strip(), len(texts) - 1
            found[form] = f"{first}  and {others:,} more" if others else first
    return found


_LONG = 10_000
"""Characters that not every terminal takes for its clipboard."""
_MAX_NAMED = 3
"""Most conditions that a message names as left out."""


def row_out_of_sight() -> str:
    """Return the message for a row under the cursor that was out of sight."""
    return f"The row under the cursor was out of sight: press {shown('copy')} again to copy it"


class CopyTarget(Frozen):
    """The specs to copy by their ids, or one spec of which only the hash is known.

    `folded` are the look-alikes that the row stands for, and `key` opens it, if it does here. The
    remark `about` says for how many builds a row of a sheet stands.
    """

    ids: Sequence[int] = ()
    hash: str = ""
    row: Row | None = None
    folded: Sequence[int] = ()
    key: str = ""
    about: str = ""
    is_marked: bool = False


class CopyContent(Frozen):
    """The specs to copy, or only their text, and a remark to show with the message."""

    specs: Sequence[Spec] = ()
    text: str = ""
    about: str = ""
    is_marked: bool = False


def copy_hash(controllers: Controllers) -> None:
    """Copy the whole hash."""
    host, state = controllers.host, controllers.host.state
    target, catalog = find_target(state, host.where), state.catalog
    if isinstance(target, str) or catalog is None:
        host.say(target if isinstance(target, str) else LOADING, error=True)
        return
    # Compilers would wait for the edges.
    reading = partial(_read_target, catalog, target, is_bare=True)
    host.run(lambda _: reading(), partial(_copy_specs, controllers, HASH), jobs.COPY)


class _Forms(NamedTuple):
    """The specs to copy, with the forms that they have, and the forms of the view."""

    copied: CopyContent
    own: Mapping[CopyForm, str]
    view: Sequence[ViewForm]


def open_menu(controllers: Controllers) -> None:
    """Choose the form to copy: of the specs, or of the view; the row may be out of sight."""
    host, state = controllers.host, controllers.host.state
    # The menu names the specs that it copies.
    target = find_target(state, host.where, may_be_unseen=True)
    note = NO_SPEC if target == NO_SPEC else ""
    target, catalog = CopyTarget() if note else target, state.catalog
    if isinstance(target, str) or catalog is None:
        host.say(target if isinstance(target, str) else LOADING, error=True)
        return
    reading = partial(_read_target, catalog, target, is_bare=False)
    sources, session = host.sources, controllers.loading.session
    read_view = partial(view_forms, state.table, catalog, state.view, sources, session)

    def read(_: object) -> _Forms:
        copied = reading()
        return _Forms(copied, examples(copied.specs), read_view())

    host.run(read, partial(_show_menu, controllers, note), jobs.MENU)


def _show_menu(controllers: Controllers, note: str, forms: _Forms) -> None:
    """Open the menu; a note says why there are no specs."""
    host, state, copied = controllers.host, controllers.host.state, forms.copied
    if not (copied.specs or note):
        only_hash = f"Only the hash of this spec is known: {shown('copy')} copies it"
        host.say(only_hash if copied.text else NO_ROWS, error=True)
        return

    def take(form: CopyForm | ViewForm) -> None:
        if form is ALL_MARKS:
            _copy_all_marks(controllers)
        elif isinstance(form, ViewForm):
            _copy_view(controllers, form)
        else:
            _copy_specs(controllers, form, copied)

    host.open(_menu(state, forms, note), take)


def _menu(state: BrowserState, forms: _Forms, note: str) -> PickDialog:
    """Return a menu of the forms, each with what it would copy; without specs, `note` says why."""
    copied, count, marks = forms.copied, state.table.total(state), len(state.marks)
    specs = copied.specs
    names = f"{len(specs):,} marked specs" if len(specs) > 1 else "".join(map(spec_title, specs))
    of_view = f"all {count:,} shown" if count != 1 else "the one shown"
    heading = " · ".join(filter(None, [note, of_view]))

    def pick(form: CopyForm | ViewForm, name: str, example: str, heading: str = "") -> Pick:
        return Pick(form, name, clean(example), keys=shown_key(form.key), heading=heading)

    picks = [
        pick(form, form.plural if len(specs) > 1 else form.name, example)
        for form, example in forms.own.items()
    ]
    if hidden_marks(state) if copied.is_marked else marks:
        hidden = f"{marks:,} marked, some of them out of sight"
        picks.append(pick(ALL_MARKS, ALL_MARKS.name, hidden))
    picks += [pick(form, form.name, form.example, heading) for form in forms.view]
    letters = {pick.value.key: pick.value for pick in picks}
    title = f"copy {names}".rstrip()
    return PickDialog(title, "form", picks, choose="copy", letters=letters)


def _copy_view(controllers: Controllers, form: ViewForm) -> None:
    """Copy a form of the view, whose text may take long to read."""
    after = f" · {form.after}" if form.after else ""
    _copy(controllers, lambda: (form.read(), form.what), after)


def _copy_all_marks(controllers: Controllers) -> None:
    """Copy the hashes of all marked specs, in sight or not."""
    marks = controllers.host.state.marks
    what = f"all {len(marks):,} marked hashes" if len(marks) > 1 else f"marked {marks[0][:7]}…"
    _copy(controllers, lambda: ("\n".join(marks), what))


def _copy_specs(controllers: Controllers, form: CopyForm, copied: CopyContent) -> None:
    host = controllers.host

    def read() -> tuple[str, str]:
        if not copied.specs:
            return copied.text, f"{copied.text[:7]}…{copied.about}"
        what = summary(form, copied.specs, marked=copied.is_marked)
        return form.spell(copied.specs), what + copied.about

    hidden = hidden_marks(host.state)
    after = ""
    if hidden and host.where.pane != "detail":
        are = "is" if hidden == 1 else "are"
        after = f" · {hidden:,} marked {are} out of sight ({shown('copy-as')} copies all)"
    _copy(controllers, read, after)


def _copy(controllers: Controllers, read: Callable[[], tuple[str, str]], after: str = "") -> None:
    """Copy a text in a worker thread, where `read` returns it and its name in a message."""

    def copy(_: object) -> CopyDone:
        text, what = read()
        copied = controllers.host.copy(text, what)
        if copied.failed and len(text) > _LONG:
            copied = replace(copied, text=f"{copied.text} {shown('export')} writes a file.")
        return copied

    def done(copied: CopyDone) -> None:
        if not copied.failed:
            controllers.recall.remember()
        text = copied.text + ("" if copied.failed else after)
        controllers.host.say(text, error=copied.failed)

    controllers.host.run(copy, done, jobs.COPY)


def find_target(
    state: BrowserState, where: Where, *, may_be_unseen: bool = False
) -> CopyTarget | str:
    """Return the specs to copy, or the reason for none.

    With `may_be_unseen` the row may be out of sight.
    """
    reason = state.table.why_not_shown(state)
    if where.pane == "detail" and reason in ("", NO_ROWS):
        return _detail_target(state, where, may_be_unseen)
    listing, row = state.listing, where.row
    in_sight = state.marks_in_sight
    if listing is None or (reason and not (in_sight and state.table.name)):
        return reason
    if not in_sight and (where.is_waiting or row is None):
        return state.why_no_spec(where)
    is_seen = may_be_unseen or where.is_row_seen
    if in_sight and (is_seen or where.are_marks_seen):
        return CopyTarget([spec.ids[0] for spec in in_sight], is_marked=True)
    if not is_seen:
        return row_out_of_sight()
    assert row is not None
    folded = listing.ids_of(row) if row.count > 1 else ()
    key, about = state.opening_key(row), state.table.of_several(where.item)
    return CopyTarget((row.id,), row=row, folded=folded, key=key, about=about)


def _detail_target(state: BrowserState, where: Where, may_be_unseen: bool) -> CopyTarget | str:
    """Return the spec of the tree line under the cursor, or the spec of the detail."""
    details, node = state.details, where.node
    if details is None:
        return NO_ROWS
    if details.is_pending:
        return LOADING
    if not (may_be_unseen or where.is_row_seen):
        return row_out_of_sight()
    if node is None or node.spec is None:
        folded = details.members.ids if details.members is not None else ()
        about = state.table.of_several(where.item)
        return CopyTarget((details.row.id,), row=details.row, folded=folded, about=about)
    if node.spec.status == "absent":
        if is_hash(node.spec.hash):
            return CopyTarget(hash=node.spec.hash)
        return "The hash of this spec is unknown"
    if node.is_package:
        unfold = shown("tree-unfold")
        return f"{node.builds:,} builds of {clean(node.spec.name)}: {unfold} lists them"
    if node.builds > 1:
        key = shown("tree-choose")
        return f"{node.builds:,} builds look the same here: press {key} to choose one"
    return CopyTarget((node.id,))


def _read_target(catalog: Catalog, target: CopyTarget, *, is_bare: bool) -> CopyContent:
    """Read the specs of a target.

    With `is_bare` no compilers are read: they would wait for the edges.
    """
    if target.hash:
        return CopyContent(text=target.hash)
    row, about = target.row, target.about
    if row is not None and len(target.folded) > 1:
        about = of_several(row, target.folded, target.key)
    rows = [row] if row is not None else catalog.rows(target.ids)
    about += _misfits(catalog, [row.id for row in rows])
    specs = [row.spec if is_bare else catalog.with_compilers(row) for row in rows]
    return CopyContent(specs, about=about, is_marked=target.is_marked)


def _misfits(catalog: Catalog, ids: Sequence[int]) -> str:
    """Return a remark on specs that do not run on the host, if all are checked already."""
    if not catalog.by_host.is_ready:
        return ""
    answers = catalog.by_host.answers
    count = sum(answers.brief(id_).fits is False for id_ in ids)
    do = f"{count:,} do" if len(ids) > 1 else "does"
    return f" · {do} not run {answers.where}" if count else ""


def view_forms(
    table: OpenTable,
    catalog: Catalog,
    view: View,
    sources: Sequence[str],
    session: Session,
) -> list[ViewForm]:
    """Return the forms in which the open table can be copied, whatever is folded or marked.

    The forms of a sheet are the command that prints it, its rows in Markdown, and their hashes.
    """

    def rows() -> Sheet[Any]:
        return table.sheet_of(catalog, view)

    if table.name:
        command = _command(lambda: _sheet_command(table, sources, session))
        return [*command, _markdown(rows), _hashes("--hashes", rows)]
    return [
        *_command(lambda: view_command(sources, view.query, session)),
        *_address(catalog, view),
        *_requirement(catalog, view),
        _hashes("find --hashes", rows),
    ]


def _sheet_command(sheet: OpenTable, sources: Sequence[str], session: Session) -> ViewCommand:
    """Return the command line that prints a sheet, with the sources that its words do not name."""
    name, *words = sheet.command
    most = sheet.module.COMMAND.most
    if most is not None and len(sheet.words) > most:
        raise QueryError(f"{name} takes at most {most} words")
    others = [] if sheet.names_sources else [each for each in sources if each not in words]
    named = [spelled_source(word) if word in sources else word for word in words]
    command = command_line([name, *named], others, session)
    return replace(command, remark="without its filters") if sheet.filters else command


def _command(read: Callable[[], ViewCommand]) -> Iterator[ViewForm]:
    try:
        command = read()
    except (QueryError, SourceError):
        return
    text = command.text
    # The name of a source may contain anything.
    if is_clean(text):
        yield ViewForm(
            "c", "command line", text, "the command line", lambda: text, after=command.remark
        )


def _address(catalog: Catalog, view: View) -> Iterator[ViewForm]:
    query = view.query
    of_package = query_of(*filter(None, [query.package_term]))
    url = site_url(query, partial(catalog.counts, of_package))
    if url is not None:
        yield ViewForm(
            "O",
            "address on cache.spack.io",
            url.text,
            "the address",
            lambda: url.text,
            after=url.remark,
        )


def _requirement(catalog: Catalog, view: View) -> Iterator[ViewForm]:
    requirement = query_requirement(view.query, catalog)
    if text := requirement.text:
        left_out = ", ".join(cut_list(requirement.left_out, _MAX_NAMED))
        yield ViewForm(
            "R",
            "requirement for the query",
            " ".join(line.strip() for line in text.splitlines()[1:]),
            "the requirement",
            lambda: text,
            after=f"without {left_out}" if left_out else "",
        )


def _markdown(rows: Callable[[], Sheet[Any]]) -> ViewForm:
    example = "a table for a pull request, as with --markdown"
    return ViewForm("m", "Markdown", example, "the rows", lambda: "\n".join(markdown(rows())))


def _hashes(option: str, rows: Callable[[], Sheet[Any]]) -> ViewForm:
    example = f"one per line, as with {option}"
    return ViewForm("h", "hashes", example, "all shown hashes", lambda: "\n".join(rows().hashes()))

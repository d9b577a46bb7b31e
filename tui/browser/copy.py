"""Copy the row under the cursor, the marked rows, the detail, or the whole view.

No spec is copied silently in place of another: of a folded row the hash that it shows is copied,
and the message says of how many, and why this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.errors import QueryError, SourceError
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Spec, is_hash
from spackscope.model.core.text import clean, is_clean
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.order import View
from spackscope.model.query.ast import query_of
from spackscope.model.report.export import json_text
from spackscope.model.report.paste import (
    ViewCommand,
    command_line,
    install_command,
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
from spackscope.tui.browser.browser_host import BrowserHost, CopyDone
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


class CopyChoice(Frozen):
    """A text to copy: its key in the menu, its name, and an example of it.

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


def _example(form: CopyForm, specs: Sequence[Spec]) -> str:
    """Return an example of the texts that specs have in a form; empty if they have none."""
    if not (texts := _texts(form, specs)):
        return ""
    first, others = texts[0].splitlines()[-1].strip(), len(texts) - 1
    return f"{first}  and {others:,} more" if others else first


_LONG = 10_000
"""Characters that not every terminal takes for its clipboard."""


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
    """The specs to copy, or only the hash of one, and a remark to show with the message."""

    specs: Sequence[Spec] = ()
    hash: str = ""
    about: str = ""
    is_marked: bool = False

    def choice(self, form: CopyForm, example: str = "", after: str = "") -> CopyChoice:
        """Return the choice of a form."""
        several, spell = len(self.specs) > 1, partial(form.spell, self.specs)
        if self.specs:
            what = summary(form, self.specs, marked=self.is_marked)
        else:
            what, spell = f"{self.hash[:SHORT_HASH]}…", partial(str, self.hash)
        name = form.plural if several else form.name
        return CopyChoice(form.key, name, example, f"{what}{self.about}", spell, after)


def copy_hash(controllers: Controllers) -> None:
    """Copy the whole hash."""
    host, state = controllers.host, controllers.host.state
    target, catalog = find_target(state, host.where), state.catalog
    if isinstance(target, str) or catalog is None:
        host.say(target if isinstance(target, str) else LOADING, error=True)
        return
    # Compilers would wait for the edges.
    reading, take = (
        partial(_read_target, catalog, target, is_bare=True),
        partial(_copy, controllers),
    )
    after = _hidden_marks_text(host)
    host.run(lambda _: reading().choice(HASH, after=after), take, jobs.COPY)


class _Menu(NamedTuple):
    """The choices of the menu: forms of the specs, then forms of the view."""

    content: CopyContent
    own: Sequence[CopyChoice]
    of_view: Sequence[CopyChoice]


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
    reading, after = (
        partial(_read_target, catalog, target, is_bare=False),
        _hidden_marks_text(host),
    )
    sources, session = host.sources, controllers.loading.session
    read_view = partial(view_choices, state.table, catalog, state.view, sources, session)

    def read(_: object) -> _Menu:
        content = reading()
        examples = {form: _example(form, content.specs) for form in FORMS}
        own = [content.choice(form, text, after) for form, text in examples.items() if text]
        return _Menu(content, [*own, *_all_marks(state, content)], read_view())

    host.run(read, partial(_show_menu, controllers, note), jobs.MENU)


def _show_menu(controllers: Controllers, note: str, menu: _Menu) -> None:
    """Open the menu; without specs, a note says why."""
    host, specs = controllers.host, menu.content.specs
    if not (specs or note):
        only_hash = f"Only the hash of this spec is known: {shown('copy')} copies it"
        host.say(only_hash if menu.content.hash else NO_ROWS, error=True)
        return
    names = f"{len(specs):,} marked specs" if len(specs) > 1 else "".join(map(spec_title, specs))
    count = host.state.table.total(host.state)
    heading = f"all {count:,} shown" if count != 1 else "the one shown"
    if note:
        heading = f"{note} · {heading}"

    def pick(choice: CopyChoice, heading: str = "") -> Pick:
        example, keys = clean(choice.example), shown_key(choice.key)
        return Pick(choice, choice.name, example, keys=keys, heading=heading)

    picks = [*map(pick, menu.own), *(pick(choice, heading) for choice in menu.of_view)]
    letters = {pick.value.key: pick.value for pick in picks}
    title = f"copy {names}".rstrip()
    dialog = PickDialog(title, "form", picks, choose="copy", letters=letters)
    host.open(dialog, partial(_copy, controllers))


def _all_marks(state: BrowserState, content: CopyContent) -> Iterator[CopyChoice]:
    """Yield the hashes of all marked specs, if the other choices do not copy all of them."""
    marks = state.marks
    if hidden_marks(state) if content.is_marked else marks:
        what = f"all {len(marks):,} marked hashes" if len(marks) > 1 else f"marked {marks[0][:7]}…"
        example = f"{len(marks):,} marked, some of them out of sight"
        yield CopyChoice(
            "a", "hashes of all marked specs", example, what, lambda: "\n".join(marks)
        )


def _hidden_marks_text(host: BrowserHost) -> str:
    """Return a remark on the marked specs that are out of sight, and so not copied."""
    hidden = hidden_marks(host.state)
    if not hidden or host.where.pane == "detail":
        return ""
    are = "is" if hidden == 1 else "are"
    return f"{hidden:,} marked {are} out of sight ({shown('copy-as')} copies all)"


def _copy(controllers: Controllers, choice: CopyChoice) -> None:
    """Copy a text in a worker thread."""

    def copy(_: object) -> CopyDone:
        text = choice.read()
        copied = controllers.host.copy(text, choice.what)
        if copied.failed and len(text) > _LONG:
            copied = replace(copied, text=f"{copied.text} {shown('export')} writes a file.")
        return copied

    def done(copied: CopyDone) -> None:
        after = f" · {choice.after}" if choice.after and not copied.failed else ""
        if not copied.failed:
            controllers.recall.remember()
        controllers.host.say(f"{copied.text}{after}", error=copied.failed)

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
        return CopyContent(hash=target.hash)
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


def view_choices(
    table: OpenTable,
    catalog: Catalog,
    view: View,
    sources: Sequence[str],
    session: Session,
) -> list[CopyChoice]:
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


def _command(read: Callable[[], ViewCommand]) -> Iterator[CopyChoice]:
    try:
        command = read()
    except (QueryError, SourceError):
        return
    text = command.text
    # The name of a source may contain anything.
    if is_clean(text):
        yield CopyChoice(
            "c", "command line", text, "the command line", lambda: text, after=command.remark
        )


def _address(catalog: Catalog, view: View) -> Iterator[CopyChoice]:
    query = view.query
    tags = catalog.counts(query_of(query.package_term), "tag") if query.package_term else ()
    url = site_url(query, tags)
    if url is not None:
        yield CopyChoice(
            "O",
            "address on cache.spack.io",
            url.text,
            "the address",
            lambda: url.text,
            after=url.remark,
        )


def _markdown(rows: Callable[[], Sheet[Any]]) -> CopyChoice:
    example = "a table for a pull request, as with --markdown"
    return CopyChoice("m", "Markdown", example, "the rows", lambda: "\n".join(markdown(rows())))


def _hashes(option: str, rows: Callable[[], Sheet[Any]]) -> CopyChoice:
    example = f"one per line, as with {option}"
    return CopyChoice(
        "h", "hashes", example, "all shown hashes", lambda: "\n".join(rows().hashes())
    )

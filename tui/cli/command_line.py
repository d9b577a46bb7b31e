"""A command line that reads sources: what its words mean, and how an answer is printed."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, cast

from spackscope.model.analysis.session_fit import attach_fit, described_host, host_of
from spackscope.model.core.commands import HOST, NEEDS_SPEC
from spackscope.model.core.errors import QueryError, Unreadable, reason
from spackscope.model.core.file_access import MAX_FILE_SIZE, read_file, too_large
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import HASH_LENGTH, Problem
from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.tasks import progress_to, report_progress, run_briefly
from spackscope.model.core.text import cell_width, clean, counted, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import REBUILT, load
from spackscope.model.index.order import View
from spackscope.model.query.ast import Query, join_words
from spackscope.model.query.parser import parse
from spackscope.model.report.progress import DOWNLOADING, WAITING, Stages, stale_copies
from spackscope.model.report.report import Piece, aligned
from spackscope.model.report.sheet import Sheet
from spackscope.model.report.writers import FORMATS, MAX_COMMENTED, formatted, table_lines
from spackscope.model.sources.resolve import resolve_sources
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, STANDARD_INPUT
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.command_table import COMMANDS
from spackscope.tui.process import ExitCode, Leave, stdio
from spackscope.tui.settings import (
    COMMAND_LINE,
    Settings,
    check_mistakes,
    origin_text,
    read_settings,
)

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 0.3
"""Seconds after the first report before progress is shown: most loads are over by then."""

_CANCELS = "Ctrl-C cancels"

MAX_PRINTED = 20
"""Problems that are printed by commands other than `index`."""

_MAX_QUERY_LENGTH = 500
"""Characters of a query that is printed with a caret under its error."""

_MAX_LABEL = 60
"""Cells of a suggestion in place of a query without a match."""

_MAX_CANDIDATES = 20
_HASH_PREFIX = rf"/?[a-z2-7]{{1,{HASH_LENGTH}}}"
_PART_OF_A_QUERY = ("+", "~", "%", "^", "@", "!")


@contextlib.contextmanager
def open_command_line(options: Options) -> Iterator[CommandLine]:
    """Yield the command line with its settings and sources; no source is read yet.

    Raises Leave, SourceError.
    """
    settings = read_settings(os.environ, {"host": options.host, "plain": options.plain})
    if settings.plain:
        os.environ[stdio.PLAIN] = "1"
    check_mistakes(settings.mistakes)
    session = settings.session(os.environ, dependency_only=options.dependency_only)
    session = replace(session, uses_rules=not options.config)
    sources = resolve_sources(options.sources, session, settings.sources)
    stdio.print_message(*options.notes)
    command = COMMANDS[options.command]
    with contextlib.ExitStack() as stack:
        takes_hashes = command.words == "environment"
        usage = f"{command.called} - < hashes" if takes_hashes else "spackscope -f - < index.json"
        named = dict.fromkeys((*sources, *options.words))
        certain = [name for name in named if name == STANDARD_INPUT]
        pipes = run_briefly(lambda: [*filter(_is_pipe, named)], certain)
        if pipes:
            with contextlib.closing(_ShownProgress(options)) as progress, progress_to(progress):
                piped = {name: stack.enter_context(_copy(name, usage)) for name in pipes}
            # Else the session keeps the configuration of Spack that it has read.
            session = replace(session, piped=piped)
        if HOST in command.options:
            _check_host(session, settings.origin("host"))
        line = CommandLine(options, sources, session, settings)
        with progress_to(line.progress):
            yield line


class CommandLine:
    """A command line that reads sources; as `model.answers.Asked` it is the question of an answer.

    `parsed` has all options, and `options` the values of given options by their fields. `command`
    is the entry of the command.
    """

    def __init__(
        self, parsed: Options, sources: Sequence[str], session: Session, settings: Settings
    ) -> None:
        self.parsed, self.sources, self.session, self.settings = parsed, sources, session, settings
        self.command = COMMANDS[parsed.command]
        self.words: Sequence[str] = parsed.words
        self.options: Mapping[str, Any] = parsed.given
        self.are_sources_chosen = bool(parsed.sources)
        self.loaded: list[Catalog] = []
        self.rests_on_configuration = False
        # By now the configuration of Spack was read only for sources.
        self._has_spack_sources = session.has_read_spack or any(
            source.startswith(PREFIX) for source in sources
        )
        self._printed = set[Problem]()
        self.progress = _ShownProgress(parsed)

    def show(self, sheet: Sheet[Any]) -> None:
        """Print nothing before all is known."""

    def load(self, *groups: Sequence[str]) -> Sequence[Catalog]:
        """Load a catalog for each group of sources, and print their problems on stderr.

        Raises SourceError, Cancelled.
        """
        catalogs = []
        for sources in groups:
            catalogs.append(catalog := self.load_quietly(sources))
            if catalog.was_damaged:
                stdio.print_message(REBUILT)
            if catalog.notice:
                stdio.print_message(catalog.notice)
            for sentence in stale_copies(catalog.sources, time.time()):
                stdio.print_message(sentence)
            limit = None if self.parsed.command == "index" else MAX_PRINTED
            _print_problems(catalog.problems, limit, "; `spackscope index` lists all")
            if self._has_spack_sources and (spack := self.session.spack) is not None:
                self._print_new(spack.problems)
        self.loaded += catalogs
        return catalogs

    def print_gaps(self) -> None:
        """Print the problems of the configuration of Spack, if the answer rests on it."""
        loaded = self.loaded if self.rests_on_configuration else ()
        gaps = [gap for each in loaded for gap in each.by_host.find_gaps()]
        self.progress.close()
        self._print_new(gap.problem for gap in gaps)

    def _print_new(self, problems: Iterable[Problem]) -> None:
        new = [each for each in dict.fromkeys(problems) if each not in self._printed]
        self._printed.update(new)
        _print_problems(new, MAX_PRINTED, "; `spackscope sources --problems` lists all")

    def load_quietly(self, sources: Sequence[str]) -> Catalog:
        """Load a catalog with its progress on stderr. Raises SourceError, Cancelled."""
        with contextlib.closing(self.progress):
            catalog = load(
                sources,
                self.session,
                rebuild=self.parsed.rebuild,
                keep=self.parsed.command == "index",
            )
        return attach_fit(catalog, self.session)

    def query(self, words: Sequence[str]) -> Query:
        """Parse the words of a query. Raises Leave, with a caret under the error."""
        text = join_words(words)
        _check_secrets("the query", text)
        for word in words:
            if os.path.isfile(word) and "." in word:
                # Few lines have a mistake.
                import shlex

                name = clean(word)
                way = f"write {shlex.quote(f'./{name}')}"
                if self.command.words == "spec or source" and self.parsed.sources:
                    way = f"without -f, {self.command.name} compares two sources"
                elif "/" in word:
                    way = f"read it with -f {shlex.quote(name)}"
                raise Leave(ExitCode.USAGE, f"{name} is a file: {way}")
        try:
            query = parse(text)
            self.rests_on_configuration |= query.rests_on_configuration
            return query
        except QueryError as error:
            raise _with_caret("the query has an error", text, error) from None

    def option(self, name: str) -> str:
        """Return an option as it is typed."""
        return f"--{name}"

    def hash_prefix(self) -> str:
        """Return the start of a hash that the only word may be, or an empty text."""
        return _hash_prefix(self.words).lstrip("/")

    def find_hash(self, catalog: Catalog, words: Sequence[str]) -> str:
        """Return the only hash that words name: the start of a hash, or a query for one spec.

        Raises Leave if the words name no spec, or, with candidates, if they name several. If these
        are only some words of the command line, the message names them.
        """
        try:
            return self._find_hash(catalog, words)
        except Leave as leave:
            if len(words) == len(self.words):
                raise
            first, *others = leave.lines
            # Code 1 would say that specs differ.
            code = ExitCode.USAGE if leave.code == ExitCode.NOTHING else leave.code
            more = (*others, *_hints(self.words))
            raise Leave(code, f"{' '.join(words)}: {first}", *more) from None

    def _find_hash(self, catalog: Catalog, words: Sequence[str]) -> str:
        typed = _hash_prefix(words)
        query = Query() if typed.startswith("/") else self.query(words)
        prefix, limit = typed.removeprefix("/"), _MAX_CANDIDATES + 1
        hashes = catalog.hashes.first(prefix, limit=limit) if prefix else []
        several, none = f"Several hashes start with {prefix}:", f"No hash starts with {prefix}"
        if (query or not typed) and (not hashes or prefix in catalog.texts("package")):
            specs = catalog.records(catalog.listing(View(query)).ids)
            matches = list(islice(dict.fromkeys(spec.hash for spec in specs), limit))
            if not words and len(matches) > 1:
                raise Leave(ExitCode.USAGE, f"{self.parsed.command} {NEEDS_SPEC}")
            if not matches:
                raise self.no_match(catalog, query, none if prefix else "")
            hashes, several = matches, "Several specs match, give the hash of one:"
        if not hashes:
            raise self.no_match(catalog, parse(f"/{prefix}"))
        if len(hashes) == 1:
            return hashes[0]
        candidates = [catalog.by_hash(hash_)[0].spec for hash_ in hashes[:_MAX_CANDIDATES]]
        # Most commands that are given a spec name one.
        from spackscope.model.report.spec_list import spec_rows

        lines = [several, *(f"  {line}" for line in aligned(spec_rows(candidates)))]
        if len(hashes) > _MAX_CANDIDATES:
            lines.append("  and more")
        raise Leave(ExitCode.USAGE, *lines)

    def no_match(self, catalog: Catalog, query: Query, sentence: str = "") -> Leave:
        """Return the exception that ends a command without a match, with queries that match.

        `sentence` comes before the reason.
        """
        # Most commands do not need this module, which would be a tenth of their start.
        from spackscope.model.assist.advice import explain_no_match, relaxations

        relaxed = [each for each in relaxations(catalog, query) if each.query]
        rows = [(shorten(each.label, _MAX_LABEL), f"{each.count:,}") for each in relaxed]
        lines = (f"  {line}" for line in aligned(rows))
        why = ". ".join(filter(None, [sentence, explain_no_match(catalog, query)]))
        code = ExitCode.NOTHING if catalog.is_whole else ExitCode.UNREADABLE
        return Leave(code, why, *lines)

    def read_hashes(self, path: str, shown: str) -> tuple[list[str], int] | None:
        """Read the hashes of a list, and the number of lines without one, which are printed.

        None if the file is a document. Raises Leave, with the file as it is `shown`.
        """
        # Few commands take a list.
        from spackscope.model.readers.formats import is_hash_list, read_hash_list

        try:
            data = read_file(path)
            items = list(read_hash_list(data, origin=shown)) if is_hash_list(data) else None
        except (OSError, Unreadable) as error:
            raise Leave(ExitCode.UNREADABLE, f"{shown} {reason(error)}") from None
        if items is None:
            return None
        problems = [item for item in items if isinstance(item, Problem)]
        _print_problems(problems, MAX_PRINTED)
        return [item for item in items if isinstance(item, str)], len(problems)


def _check_host(session: Session, origin: str) -> None:
    """Check the description of the host, if there is one. Raises Leave, with a caret."""
    text = described_host(session)
    _check_secrets("the host", text)
    try:
        if text:
            host_of(session)
    except QueryError as error:
        place = "" if origin == COMMAND_LINE else f"{origin_text(origin)}: host: "
        raise _with_caret(f"{place}{error}", text, error) from None


def _check_secrets(what: str, text: str) -> None:
    """Raise Leave where a text has a URL with a secret, such as a source without its -f.

    Messages quote conditions, in which a part of a URL is not recognised as such any more.
    """
    if without_secrets(text) != text:
        raise Leave(ExitCode.USAGE, f"{what} has a URL with a user, password or parameters")


def _with_caret(sentence: str, text: str, error: QueryError) -> Leave:
    """Return the exception that shows an error in a text, after a sentence that may contain it."""
    if len(text) > _MAX_QUERY_LENGTH:
        return Leave(ExitCode.USAGE, str(error))
    why = "" if str(error) in sentence else f" {error}"
    indent = " " * cell_width(clean(text[: error.offset]))
    return Leave(ExitCode.USAGE, sentence, f"  {clean(text)}", f"  {indent}^{why}")


def _print_problems(problems: Sequence[object], limit: int | None, hint: str = "") -> None:
    """Print problems on stderr up to a limit, and the number of other problems with a hint."""
    for problem in problems[:limit]:
        stdio.print_message(str(problem))
    if more := len(problems) - len(problems[:limit]):
        stdio.print_message(f"and {counted(more, 'more problem')}{hint}")


def _hash_prefix(words: Sequence[str]) -> str:
    """Return the hash prefix that the words may be, or "".

    A prefix with a `/` before it keeps it, and can only be a hash.
    """
    word = words[0].strip().lower() if len(words) == 1 else ""
    return word if re.fullmatch(_HASH_PREFIX, word) else ""


def _hints(words: Sequence[str]) -> list[str]:
    """Return a hint to quote a query of several words, if some words look like parts of one."""
    if not any(word.startswith(_PART_OF_A_QUERY) for word in words[1:]):
        return []
    import shlex

    return [f"Each word is a spec; quote a query: {shlex.quote(' '.join(words[:2]))}"]


def _is_pipe(name: str) -> bool:
    """Check whether a name is standard input, a FIFO or, as in `-f <(curl …)`, a pipe."""
    try:
        return name == STANDARD_INPUT or stat.S_ISFIFO(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _copy(name: str, usage: str) -> Iterator[str]:
    """Copy standard input or a pipe to a file that exists as long as the context; yield its path.

    Raises Leave where standard input is a terminal, or cannot be copied.
    """
    is_stdin = name == STANDARD_INPUT
    shown = "standard input" if is_stdin else clean(name)
    if is_stdin and stdio.is_terminal(sys.stdin):
        raise Leave(ExitCode.USAGE, f"the source - reads standard input: {usage}")
    with contextlib.ExitStack() as stack:
        try:
            # Opening a pipe waits for its writer.
            report_progress(f"{WAITING}{shown}", 0)
            source = sys.stdin.buffer if is_stdin else stack.enter_context(open(name, "rb"))
            file, path = _temporary_file()
            stack.enter_context(file)
            if (size := os.fstat(source.fileno()).st_size) > MAX_FILE_SIZE:
                raise too_large(size, MAX_FILE_SIZE)
            while part := source.read(1 << 20):
                file.write(part)
                report_progress(f"{DOWNLOADING}{shown}", file.tell())
                if file.tell() > MAX_FILE_SIZE:
                    raise too_large(None, MAX_FILE_SIZE)
            file.flush()
        except OSError as error:
            raise Leave(ExitCode.UNREADABLE, f"{shown} {reason(error)}") from None
        yield path


def _temporary_file() -> tuple[IO[bytes], str]:
    """Create a file that is removed when it is closed; return it with a path to open it by.

    On Linux the file has no name, and disappears with this process even if this is killed.
    """
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115
    path = f"/proc/self/fd/{file.fileno()}"
    if os.path.exists(path):
        return file, path
    file.close()
    named_file = tempfile.NamedTemporaryFile(prefix="spackscope-")  # noqa: SIM115
    return named_file, named_file.name


class _ShownProgress:
    """Draws the progress that it is called with on stderr, if that is a terminal."""

    def __init__(self, parsed: Options) -> None:
        self._is_visible, self._no_color = stdio.is_terminal(sys.stderr), parsed.no_color
        self._started: float | None = None
        self._stages = Stages()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._last: tuple[str, int, int | None] = ("", 0, None)
        self._timer: threading.Timer | None = None
        # Sources are discovered in several threads.
        self._lock = threading.RLock()

    def close(self) -> None:
        """Remove the line from the screen, until more progress is made."""
        with self._lock:
            if self._progress is not None:
                self._progress.stop()
            if self._timer is not None:
                self._timer.cancel()
            self._progress = self._started = self._timer = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Show how much of a stage is done."""
        if not self._is_visible:
            return
        with self._lock:
            self._last = (what, done, total)
            progress = self._stages.progress(what, done, total)
            now = time.monotonic()
            self._started = now if self._started is None else self._started
            if now - self._started < DELAY:
                if self._timer is None:
                    # What hangs reports nothing more.
                    self._timer = threading.Timer(DELAY, self._repeat)
                    self._timer.daemon = True
                    self._timer.start()
                return
            if self._progress is None:
                self._progress = _new_progress(no_color=self._no_color)
                self._progress.start()
                self._task = self._progress.add_task("", total=total)
            assert self._task is not None
            width = self._progress.console.width
            description = progress.fitted(width - _bar_width(width) - len(_CANCELS) - 2)
            self._progress.update(self._task, description=description, completed=done, total=total)

    def _repeat(self) -> None:
        with self._lock:
            if self._timer is not None:
                self(*self._last)


def _bar_width(columns: int) -> int:
    return min(24, columns // 4)


def _new_progress(*, no_color: bool) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    # Rich itself obeys NO_COLOR.
    console = Console(file=cast("IO[str]", stdio.Stderr()), no_color=no_color or None)
    # A cursor that is hidden stays hidden where Ctrl-Z stops the program, or a signal kills it.
    vars(console)["show_cursor"] = lambda _show: False
    bars = [] if stdio.is_plain() else [BarColumn(bar_width=_bar_width(console.width))]
    return Progress(
        *bars,
        TextColumn("{task.description}", markup=False),
        TextColumn(_CANCELS, markup=False),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


_COLOURS = {
    "strong": 1, "title": 1, "match": 1, "dim": 2, "same": 2, "error": 31, "good": 32,
    "differs": 33, "value": 33, "virtual": 35, "hash": 36, "link": 36,
}  # fmt: skip
"""The codes of the styles, in the sixteen colours of terminals."""


def print_answer(answer: Callable[[CommandLine], Sheet[Any]], asked: CommandLine) -> ExitCode:
    """Ask an answer, and print its sheet.

    Returns NOT_GOOD if the answer found something missing, wrong or there twice, and UNREADABLE if
    the reason may be a source, or a part of one, that could not be read.
    """
    try:
        try:
            sheet = answer(asked)
        except Leave:
            # They may be the reason why nothing matches.
            asked.print_gaps()
            raise
        asked.progress.close()
        asked.print_gaps()
        _print(_arranged(sheet, asked.parsed), asked)
    finally:
        asked.progress.close()
    if sheet.ending is not None:
        raise sheet.ending
    if sheet.is_good:
        return ExitCode.FOUND
    is_unsure = not (sheet.is_certain or all(catalog.is_whole for catalog in asked.loaded))
    return ExitCode.UNREADABLE if is_unsure else ExitCode.NOT_GOOD


def _arranged(sheet: Sheet[Any], options: Options) -> Sheet[Any]:
    """Return the sheet with the columns, the order and the rows that are asked for."""
    if options.sort:
        sheet = sheet.sorted(options.sort)
    if options.columns:
        sheet = sheet.of_columns(options.columns)
    if options.limit:
        limit = int(options.limit)
    else:
        limit = MAX_COMMENTED if options.format == "markdown" else 0
    return sheet.cut(limit) if limit else sheet


def _print(sheet: Sheet[Any], asked: CommandLine) -> None:
    options = asked.parsed
    for remark in sheet.remarks:
        stdio.print_message(remark)
    width = stdio.width() if stdio.is_terminal(sys.stdout) else None
    is_for_people = options.template is None and options.format is None
    is_plain = is_for_people and asked.settings.plain and (width is not None or options.plain)
    # A number that was asked for has cut the rows already.
    limit = None if options.limit else sheet.limit
    if is_for_people and not is_plain and (width is not None or sheet.is_text):
        has_colours = not options.no_color and stdio.supports_colour(asked.session.environ)
        for pieces in table_lines(sheet, width, limit):
            stdio.print_line("".join(_coloured(p) if has_colours else p[0] for p in pieces))
        return
    if is_for_people:
        # Scripts read the rows; readers of a log want to know their title.
        for sentence in (sheet.title, *sheet.notes):
            if sentence:
                stdio.print_message(sentence)
    if is_plain and width is not None and limit is not None:
        sheet = sheet.cut(limit)
    for line in _script_lines(sheet, options, "plain" if is_plain else "tab"):
        stdio.print_line(line)
    if is_plain and limit is not None and sheet.left_out:
        stdio.print_message(f"and {sheet.left_out:,} more; --limit 0 prints all")


def _coloured(piece: Piece) -> str:
    """Return a text with the sequences for its colour."""
    text, names = piece
    for name in names.split() if text else ():
        if name in _COLOURS:
            text = f"\x1b[{_COLOURS[name]}m{text}\x1b[0m"
    return text


def _script_lines(sheet: Sheet[Any], options: Options, default: str) -> Iterator[str]:
    if options.template is not None:
        return formatted(sheet, options.template)
    format_ = options.format or default
    return next(each.of_sheet(sheet) for each in FORMATS if each.name == format_)

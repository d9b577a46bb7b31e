"""Ask an answer, and print its sheet in the form of the options."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from spackscope.model.core.errors import Unanswerable, Unreadable, WrongQuestion
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query
from spackscope.model.report.sheet import Sheet
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands import common
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


class CommandLine:
    """What the command line asks of an answer (`model.answers.asked.Asked`)."""

    def __init__(self, options: Options, sources: Sequence[str], session: Session) -> None:
        self.words: Sequence[str] = options.words
        self.options: Mapping[str, Any] = options.given
        self.sources, self.session = sources, session
        self.loaded: list[Catalog] = []
        self._options = options
        self.on_progress = common.new_progress(options)

    def show(self, sheet: Sheet[Any]) -> None:
        """Print nothing before all is known."""

    def load(self, *groups: Sequence[str]) -> Sequence[Catalog]:
        """Load a catalog for each group of sources, and print their problems."""
        self.loaded += (found := common.load_catalogs(self._options, self.session, groups))
        return found

    def query(self, words: Sequence[str]) -> Query:
        """Parse the words of a query. Raises Leave, with a caret under the error."""
        return common.parse_query(words, self.session)

    def hash_prefix(self) -> str:
        """Return the start of a hash that the only word may be, or an empty text."""
        return common.hash_prefix(self.words).lstrip("/")

    def find_hash(self, catalog: Catalog, words: Sequence[str]) -> str:
        """Return the only hash that words name; one of several words is named if it names none.

        Raises Leave.
        """
        try:
            return common.SpecArgument(words, self.session).find(catalog)
        except Leave as leave:
            if len(words) == len(self.words):
                raise
            first, *others = leave.lines
            # Code 1 would say that specs differ.
            code = ExitCode.USAGE if leave.code == ExitCode.NOTHING else leave.code
            more = (*others, *_hints(self.words))
            raise Leave(code, f"{' '.join(words)}: {first}", *more) from None

    def no_match(self, catalog: Catalog, query: Query, sentence: str = "") -> Exception:
        """Return the exception that ends a command without a match."""
        return common.no_match(catalog, query, sentence)

    def read_hashes(self, path: str, shown: str) -> tuple[list[str], int] | None:
        """Read the hashes of a list, and count the lines without one. Raises Leave."""
        return common.read_hashes(path, shown)


_PART_OF_A_QUERY = ("+", "~", "%", "^", "@", "!")


def _hints(words: Sequence[str]) -> list[str]:
    """Return how to write a query of several words, if some words look like parts of one."""
    if not any(word.startswith(_PART_OF_A_QUERY) for word in words[1:]):
        return []
    return [f"Each word is a spec; quote a query: {shlex.quote(' '.join(words[:2]))}"]


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the answer that the command names.

    NOT_GOOD if it says that something is missing, wrong or there twice, UNREADABLE if that may
    be because a source could not be read. Raises Leave.
    """
    asked = CommandLine(options, sources, session)
    try:
        sheet: Sheet[Any] = import_module(f"spackscope.model.answers.{options.command}").answer(
            asked
        )
        asked.on_progress.close()
        _print(_arranged(sheet, options), options, session)
    except (Unanswerable, WrongQuestion) as error:
        raise Leave(ExitCode.USAGE, str(error)) from None
    except Unreadable as error:
        raise Leave(ExitCode.UNREADABLE, str(error)) from None
    finally:
        asked.on_progress.close()
    if sheet.ending is not None:
        raise sheet.ending
    if sheet.is_good:
        return ExitCode.FOUND
    has_failed = any(state.failure for catalog in asked.loaded for state in catalog.sources)
    is_unsure = has_failed and not sheet.is_certain
    return ExitCode.UNREADABLE if is_unsure else ExitCode.NOT_GOOD


def _arranged(sheet: Sheet[Any], options: Options) -> Sheet[Any]:
    """Return the sheet with the columns, the order and the rows that are asked for."""
    if options.sort:
        sheet = sheet.sorted(options.sort)
    if options.columns:
        sheet = sheet.of_columns(options.columns)
    if limit := _limit(options):
        sheet = sheet.cut(limit)
    return sheet


def _limit(options: Options) -> int | None:
    """Return the number of rows that is asked for, if any. Raises Leave."""
    if options.limit and not (options.limit.isdecimal() and options.limit.isascii()):
        raise Leave(ExitCode.USAGE, f"--limit takes a number of rows, not {clean(options.limit)}")
    return int(options.limit) if options.limit else None


def _print(sheet: Sheet[Any], options: Options, session: Session) -> None:
    for remark in sheet.remarks:
        stdio.print_message(remark)
    width = common.terminal_width()
    is_for_people = options.template is None and options.format is None
    if is_for_people and (width is not None or sheet.is_text):
        # A number that was asked for has cut the rows already.
        limit = sheet.limit if _limit(options) is None else None
        common.print_lines(sheet.lines(width, limit), options, session)
        return
    if is_for_people:
        # Scripts read the rows; who reads a log wants to know what they are.
        for sentence in (sheet.title, *sheet.notes):
            if sentence:
                stdio.print_message(sentence)
    for line in _script_lines(sheet, options):
        stdio.print_line(line)


def _script_lines(sheet: Sheet[Any], options: Options) -> Iterator[str]:
    if options.template is not None:
        return sheet.formatted(options.template)
    if options.format is not None and options.format in sheet.exports:
        return sheet.exports[options.format]()
    formats: dict[str | None, Callable[[], Iterator[str]]] = {
        "json": sheet.json_array,
        "jsonl": sheet.json_lines,
        "csv": sheet.csv,
        "hashes": sheet.hashes,
        None: sheet.tabs,
    }
    return formats[options.format]()

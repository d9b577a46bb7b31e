"""Ask an answer, and print its sheet in the form of the options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from spackscope.model.report.report import Piece
from spackscope.model.report.sheet import Sheet
from spackscope.model.report.writers import FORMATS, MAX_COMMENTED, formatted, table_lines
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.command_line import CommandLine
from spackscope.tui.process import ExitCode, Leave, stdio

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

"""Print the record of a spec: labels with their values, wrapped at the width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width
from spackscope.model.report.detail import FITS, VARIANTS, DetailLine
from spackscope.tui.cli.colours import Colours

_LABEL_WIDTH = 14
_VARIANT_KINDS = ("differs", "same")
_EDGE = re.compile(r"(\[[^\]]*\] )([^@=/ ]+(?==[^@/ ]+@))?(.*?)( /\w+)?( \(.*)?")
"""An edge as Spack prints it: deptypes, virtuals, the rest of the spec, its hash, a remark."""


class SpecReport(Frozen):
    """How a spec is printed; without a width each label has one line."""

    width: int | None
    colours: Colours

    def detail_lines(self, lines: Iterable[DetailLine]) -> Iterator[str]:
        """Yield the lines of a spec: its title, its hash, and labels with all their values."""
        blocks: list[list[DetailLine]] = []
        for line in lines:
            if line.kind == "title":
                yield self.colours.bold(line.text)
            elif line.kind == "hash":
                yield self.colours.link(line.text)
            elif line.is_continued:
                blocks[-1].append(line)
            else:
                blocks.append([line])
        for block in blocks:
            yield from self._block(block)

    def labelled(self, label: str, text: str) -> str:
        """Return a label and its value."""
        return self.colours.dim(label) + " " * (_LABEL_WIDTH - len(label)) + text

    def edge(self, text: str) -> str:
        """Return a dependency, with its deptypes, virtuals and hash told apart."""
        match = _EDGE.fullmatch(text)
        if match is None:
            return text
        deptypes, virtuals, rest, hash_, remark = (part or "" for part in match.groups())
        colours = self.colours
        names = colours.dim(deptypes) + colours.virtual(virtuals)
        return names + rest + colours.link(hash_) + colours.dim(remark)

    def _block(self, block: Sequence[DetailLine]) -> Iterator[str]:
        label = block[0].label
        between = " " if label == VARIANTS else "  "
        for line in self._flowed(block, between):
            yield self.labelled(label, line)
            label = ""

    def _flowed(self, block: Sequence[DetailLine], between: str) -> Iterator[str]:
        """Join values to lines; variants that are the same in all builds begin one."""
        room = None if self.width is None else self.width - _LABEL_WIDTH
        text, used = "", 0
        for number, value in enumerate(block):
            lead = self._lead(value)
            starts_part = bool(number and lead) and value.kind == "same"
            width = cell_width(lead + value.text)
            is_full = room is not None and used + len(between) + width > room
            if number and (starts_part or is_full):
                yield text
                used = 0 if starts_part else cell_width(block[0].lead)
                text = " " * used
            elif number:
                text, used = text + between, used + len(between)
            text, used = text + self._styled(lead, value), used + width
        yield text

    def _lead(self, value: DetailLine) -> str:
        """Return what is before a value; scripts get it of variants only."""
        return value.lead if self.width is not None or value.kind in _VARIANT_KINDS else ""

    def _styled(self, lead: str, value: DetailLine) -> str:
        colours = self.colours
        if value.kind == "differs":
            return colours.differs(lead + value.text)
        if value.kind == "same":
            return colours.dim(lead) + colours.variants(value.text)
        if value.label == FITS and value.text.startswith("✓"):
            return colours.good(value.text)
        styles = {
            "good": colours.good,
            "dim": colours.dim,
            "error": colours.error,
            "virtual": colours.virtual,
            "link": colours.link,
        }
        return styles.get(value.kind, str)(lead + value.text)

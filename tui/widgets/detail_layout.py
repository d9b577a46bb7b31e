"""Lay out the values of a spec and the lines of its tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.core.columns import SHORT_HASH, compiler_cell
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import DEPTYPES, NO_COMPILER, UNKNOWN
from spackscope.model.core.text import cell_width, clean, pad, shorten, wrap
from spackscope.model.index.tree import Tree
from spackscope.model.report.detail import (
    ARCHIVE,
    BUILDS,
    DIFFER_IN,
    DIFFERS,
    DOWNLOAD,
    FITS,
    INSTALL,
    NEEDS,
    NEXT_TO,
    SAME_IN_ALL,
    SIGNED,
    STATUS_SIGNS,
    STATUS_TEXTS,
    USED_BY,
    VARIANTS,
    DetailLine,
    blocks_of,
    deptypes_sign,
    fold_sign,
    full_name,
    head_text,
    plain_blocks,
    short_hash,
    virtuals_text,
)
from spackscope.model.report.report import Flow, LinePart, Piece, highlight, styled
from spackscope.model.report.table_columns import signed
from spackscope.tui.keymap import Hint, hint, with_written_keys
from spackscope.tui.process.stdio import is_plain
from spackscope.tui.widgets.virtual_list import Browse

GAP = "  "
"""The blanks between two parts of a title, and before a label within a row."""
_PLAIN_SUFFIX = ("title", "link")
LEGEND = GAP.join(f"{name[0]} {name}" for name in DEPTYPES)
"""The legend of the letters before the lines of a tree: dependency types."""


LayoutRow = Sequence[LinePart]
"""The parts of a row of the pane: values that the cursor can be on, keys, labels and blanks."""


def _put(flow: Flow, line: DetailLine, *, suffixes: bool) -> None:
    """Add a value to the current row, to the next one if it is too long, or to several rows."""
    suffix = line.suffix if suffixes else ""
    text, lead = line.text + suffix, line.lead or " "
    if not (goes_on := flow.goes_on(cell_width(lead + text))):
        lead = line.lead.lstrip()
    flow.add(lead, "dim" if lead.strip() else "")
    if goes_on or cell_width(text) <= flow.room:
        flow.add(line.text, line.style, line)
        flow.add(suffix, "" if line.style in _PLAIN_SUFFIX else line.style)
        return
    for number, part in enumerate(wrap(text, max(1, flow.room))):
        if number:
            flow.end_line()
        flow.add(part, line.style, line)


_LABEL_WIDTH, _MIN_LABEL_WIDTH, _NARROW = 11, 9, 30
"""Cells of the labels; fewer in a pane that is narrower than `_NARROW`."""
_FACTS = ("target", "os", "platform", "compiler")
_BUILT_FOR = "built for"
"""The values of a row in its order, and its label."""
_SOURCE = "source"
_ORDER = (
    *(INSTALL, BUILDS, ARCHIVE, NEXT_TO, VARIANTS, "flags", _BUILT_FOR, FITS, "reusable"),
    *(NEEDS, USED_BY, _SOURCE, DOWNLOAD, SIGNED),
)
MIN_FOR_HASH = 62
"""Cells from which on the hash has a row of its own above the whole install command."""
_LISTS = (VARIANTS, NEEDS, ARCHIVE, NEXT_TO, USED_BY)
"""The labels of values that are counted where they have no room; earlier ones get rows first."""
_MAX_LIST_ROWS = 4
_MIN_WIDTH_FOR_HINTS = 40
_SHORT = 40
_MIN_END, _MIN_TITLE = 6, 12
_CACHE_ONLY = " --cache-only"


def least_rows(variants: int, width: int, *, are_several: bool) -> int:
    """Return the rows that a pane needs to show a build whole, with a row for each list.

    `variants` are the cells of all variants in one line.
    """
    room = max(1, width - _LABEL_WIDTH - _MAX_VARIANT)
    rows = max(1, -(-variants // room)) + sum((1, width >= MIN_FOR_HASH, are_several))
    return rows + len((_BUILT_FOR, NEEDS, USED_BY, _SOURCE))


_MAX_VARIANT = 8
"""Cells that are blank at the end of a row of variants."""


def layout(lines: Sequence[DetailLine], width: int, height: int) -> list[LayoutRow]:
    """Return the rows of a pane below its rule, the labels with the most important first.

    A list takes more than a row while rows of the pane are blank; the variants give way to the
    labels that follow them.
    """
    lines = [
        replace(line, suffix=with_written_keys(line.suffix)) if line.suffix else line
        for line in lines
    ]
    if is_plain():
        return [row for block in plain_blocks(lines) for row in _plain_rows(block, width)]
    blocks = _blocks(lines, width)
    most = dict.fromkeys(_LISTS, 1)
    most[VARIANTS] = 0
    rows = [_block_rows(block, width, most) for block in blocks]
    known = sum(len(own) for block, own in zip(blocks, rows, strict=True) if _is_first(block))
    for number, block in enumerate(blocks):
        label = block[0].label
        if label == VARIANTS and known > height:
            most[VARIANTS] = max(1, len(rows[number]) - (known - height))
            rows[number] = _block_rows(block, width, most)
    for label in _LISTS[1:]:
        left = height - sum(map(len, rows))
        for number, block in enumerate(blocks):
            if block[0].label == label and left > 0:
                most[label] = min(_MAX_LIST_ROWS, 1 + left)
                rows[number] = _block_rows(block, width, most)
    return [row for own in rows for row in own]


def _is_first(block: Block) -> bool:
    """Check whether a block comes before the details of the source."""
    label = block[0].label
    is_ranked = label in _FACTS or label in _ORDER[: _ORDER.index(_SOURCE)]
    return is_ranked or block[0].style == "hash"


Block = Sequence[DetailLine]
"""The values of one label."""


def _plain_rows(block: Block, width: int) -> list[LayoutRow]:
    """Return the values of a block after `label:`, on as many rows as they need."""
    flow = Flow(width)
    flow.add(f"{block[0].label}:")
    for line in (replace(block[0], lead=" "), *block[1:]):
        _put(flow, line, suffixes=True)
    return [*flow.lines]


def _blocks(lines: Sequence[DetailLine], width: int) -> list[Block]:
    """Return the blocks of the labels in the order of the pane."""
    by_label: dict[str, list[DetailLine]] = {}
    hash_: Block = []
    for block in blocks_of(line for line in lines if not line.at_end and line.style != "title"):
        if block[0].style == "hash":
            hash_ = block
        else:
            by_label.setdefault(block[0].label, []).extend(block)
    install = by_label.get(INSTALL, [])
    if width >= MIN_FOR_HASH or not install or install[0].style:
        blocks: list[Block] = [hash_] if hash_ else []
    else:
        # The command names the hash; without the option it fits.
        short = install[0].text.replace(_CACHE_ONLY, "")
        by_label[INSTALL], blocks = [replace(install[0], text=short)], []
    if variants := [*by_label.get(VARIANTS, ()), *by_label.pop(SAME_IN_ALL, ())]:
        by_label[VARIANTS] = _variants(variants)
    if (telling := by_label.pop(DIFFER_IN, None)) and BUILDS in by_label:
        first = by_label[BUILDS][0]
        by_label[BUILDS] = [replace(first, text=f"{first.text}: {telling[0].text}")]
    if _SOURCE in by_label and (sizes := by_label.pop("size", None)):
        size = replace(sizes[0], text=f"size {sizes[0].text}", label="", lead=", ")
        by_label[_SOURCE] = [*by_label[_SOURCE], size]
    if facts := [by_label.pop(label)[0] for label in _FACTS if label in by_label]:
        by_label[_BUILT_FOR] = _built_for(facts, width)
    rank = {label: number for number, label in enumerate(_ORDER)}
    ranked = sorted((label for label in by_label if label in rank), key=rank.__getitem__)
    others: list[Block] = [block for label, block in by_label.items() if label not in rank]
    blocks += [by_label[label] for label in ranked]
    return [*blocks, *(_joined(others) if width > _SHORT else others)]


def _variants(block: Block) -> list[DetailLine]:
    """Return the variants: those that vary, then the switches, then those with values."""
    block = [replace(line, text=line.text.replace(":=", "=", 1), label="") for line in block]
    block.sort(key=lambda line: line.style != "differs" and 1 + ("=" in line.text))
    return [replace(block[0], label=VARIANTS), *block[1:]]


def _built_for(facts: Sequence[DetailLine], width: int) -> list[DetailLine]:
    """Return what a build is for and its compiler, with words between where there is room."""
    is_wide = width >= MIN_FOR_HASH
    line = []
    for number, fact in enumerate(facts):
        is_compiler = fact.label == _FACTS[-1]
        is_named = fact.text not in _NO_COMPILER
        text = fact.text if is_named else signed(fact.label, fact.text)
        lead = ", with " if is_compiler and is_named and is_wide else ", "
        lead = lead if is_wide or is_compiler else " "
        line.append(replace(fact, text=text, lead=lead if number else ""))
    return line


_NO_COMPILER = (compiler_cell(NO_COMPILER), UNKNOWN)


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """Join blocks of one short value each, so that several labels share a row."""
    joined: list[list[DetailLine]] = []
    can_join = False
    for block in blocks:
        first = block[0]
        is_short = len(block) == 1 and cell_width(first.label + first.text) <= _SHORT
        if is_short and can_join:
            lead = f"{GAP}{first.label} {first.lead}"
            joined[-1].append(replace(first, label="", lead=lead))
        else:
            joined.append([*block])
        can_join = is_short
    return [*joined]


def rule_texts(
    lines: Sequence[DetailLine], width: int
) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
    """Return the name of the spec and, at the right end of a rule, its state.

    The name is cut before the state; a click on a state filters by it.
    """
    name = next((line.text for line in lines if line.style == "title"), "")
    end, right = [line for line in lines if line.at_end], list[LinePart]()
    for line, text in zip(end, _end_texts(end, width - _MIN_TITLE), strict=False):
        if right:
            right.append(LinePart([(GAP, "rule")]))
        right.append(LinePart([(text, f"plain {line.style}")], Browse("add_term", line.term)))
    room = width - sum(part.width for part in right)
    return [LinePart([(shorten(name, room), "")])] if name else [], right


def tree_rule_texts(
    lines: Sequence[DetailLine], tree: Tree, remarks: Sequence[str], width: int
) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
    """Return the spec of a tree, the filters of the tree and remarks; at the right the legend."""
    hash_of = f"{len(tree.members):,} builds" if tree.members else ""
    names = [
        line.text if line.style == "title" else hash_of or f"/{line.text[:SHORT_HASH]}"
        for line in lines
        if line.style in ("title", "hash")
    ]
    filters = (
        "run-time dependencies only" if tree.run_only else "",
        f"names containing {clean(tree.search)}" if tree.search else "",
    )
    left = shorten(GAP.join(filter(None, [*names, *filters, *remarks])), width, keep="start")
    legend = shorten(LEGEND, width - cell_width(left), keep="start")
    right = [LinePart([(legend, "plain dim")])] if cell_width(legend) > 1 else []
    return [LinePart([(left, "")])], right


def _end_texts(end: Block, room: int) -> list[str]:
    """Return the texts at the end of a title, as many as fit; the last one may be cut."""
    texts = []
    for line in end:
        text = shorten(line.text, room, keep="start")
        if cell_width(text) < min(_MIN_END, cell_width(line.text)):
            break
        texts.append(text)
        room -= cell_width(text) + len(GAP)
    return texts


def _block_rows(block: Block, width: int, most: Mapping[str, int]) -> list[LayoutRow]:
    """Return the rows of a block, with the hints of its label at the end of the first row."""
    first = block[0]
    is_wide = width >= _MIN_WIDTH_FOR_HINTS
    hints = [each for name, word in first.hints for each in hint(name, word) if is_wide]
    if first.label == INSTALL:
        hints = []
    hints_width = sum(cell_width(f"{key.shown} {key.word}") for key in hints) + 3 * (
        len(hints) - 1
    )
    margin = min(_LABEL_WIDTH if width >= _NARROW else _MIN_LABEL_WIDTH, width // 2)
    if first.style == "hash" or first.label in (INSTALL, BUILDS):
        margin = 0
    room = width - (hints_width + len(GAP) if hints else 0)
    rows = _fitting_rows(block, room, margin, most.get(first.label, 0))
    if hints:
        rows[0] = _with_hints(rows[0], hints, width - hints_width)
    return rows


def _with_hints(row: LayoutRow, hints: Sequence[Hint], at: int) -> LayoutRow:
    parts = [*row, LinePart(styled(" " * (at - sum(part.width for part in row))))]
    for number, (shown, word, key) in enumerate(hints):
        if number:
            parts.append(LinePart(styled(" · ", "dim")))
        parts.append(LinePart([(shown, "accent"), (f" {word}", "dim")], key))
    return parts


def _fitting_rows(block: Block, width: int, margin: int, most: int) -> list[LayoutRow]:
    """Flow the values into at most `most` rows; the last value then counts the omitted values."""
    has_suffix = {line.suffix for line in block} != {""}
    for suffixes in (True, False) if has_suffix else (True,):
        rows, fitting = _flow(block, width, margin, most, suffixes=suffixes)
        if not most or (len(rows) <= most and not _left_out(block, len(block))):
            return rows
    if fitting:
        fewer = [*block[:fitting], _more(block, fitting)]
        rows, _ = _flow(fewer, width, margin, most, suffixes=False)
    return _cut(rows, most, width)


def _left_out(block: Block, count: int) -> int:
    """Return how many values of a block are not among its first `count` lines."""
    if block[0].label == VARIANTS:
        return len(block) - count
    shown = [line for line in block[:count] if line.id is not None]
    return max(0, block[0].total - len(shown))


def _more(block: Block, count: int) -> DetailLine:
    left = f"{_left_out(block, count):,} more"
    text = f"… {left}" if block[0].label == VARIANTS else f"and {left}"
    return DetailLine(text, style="dim", hints=block[0].hints)


def _flow(
    block: Block, width: int, margin: int, most: int, *, suffixes: bool
) -> tuple[list[LayoutRow], int]:
    """Flow values into rows, at most one more than `most`, which shows that they do not fit.

    Return also how many values leave room to count the others after them; 0 without a count.
    """
    flow, fitting = Flow(width, margin), 0
    first, *others = block
    label = _BUILT_FOR if first.label in _FACTS else first.label
    together = f"{label} {first.text}"
    if first.style == "link" and label == NEXT_TO and cell_width(together) < margin:
        flow.add(f"{label} ", "dim")
        flow.add(first.text, first.style, first)
        flow.add(" " * (flow.room - (width - margin)))
    else:
        if margin:
            flow.add(pad(shorten(label, margin - 1), margin), "dim")
        _put(flow, first, suffixes=suffixes)
    for count, line in enumerate(others, 1):
        if len(flow.lines) > most > 0:
            break
        if (first.total or label == VARIANTS) and line.lead != " ":
            is_low = len(flow.lines) < most
            if not fitting or is_low or cell_width(" " + _more(block, count).text) <= flow.room:
                fitting = count
        _put(flow, line, suffixes=suffixes)
    return [*flow.lines], fitting


def _cut(rows: list[LayoutRow], most: int, width: int) -> list[LayoutRow]:
    """Cut rows after the first `most`; the last of them ends between words, with `…`."""
    if len(rows) <= most:
        return rows
    parts = [*rows[most - 1]]
    while parts and sum(part.width for part in parts) + 2 > width:
        ((text, style),), target = parts.pop()
        if words := text.rpartition(" ")[0]:
            parts.append(LinePart(((words, style),), target))
    return [*rows[: most - 1], [*parts, LinePart(styled(" …", "dim"))]]


_MIN_TREE_NAME = 14
"""Cells that a name keeps; guide lines are shortened for it."""
_MAX_REMARK = 40
_MIN_TREE_WIDTH = 30
"""Cells of a line below which there is no room for the hash."""
_TREE_GAP = "  "


def tree_pieces(
    tree: Tree, row: int, width: int, differing: Mapping[int, str] | None = None
) -> list[Piece]:
    """Return the pieces of a line of a tree.

    Lines too deep for the width are indented no further, and show their depth as a number.
    `differing` has the differences from a marked spec by record id, "" for a difference that is
    only below the record.
    """
    node, fold = tree.lines[row], fold_sign(tree, row)
    if node.edge is None or node.spec is None:
        return [(f"{fold} ", "accent"), (head_text(node), "strong")]
    differs = (differing or {}).get(node.id) if node.section == "dependencies" else None
    remark, remark_style = _remark(tree, row, differs)
    deptypes = f"{deptypes_sign(node.edge.deptypes)[1:-1]} "
    name = f"×{node.builds:,}" if node.builds > 1 else short_hash(node.spec)
    hash_ = f"{_TREE_GAP}{pad(name, SHORT_HASH)}" if width >= _MIN_TREE_WIDTH else ""
    guides = _guides(tree, row, width - cell_width(deptypes + hash_) - 3)
    room = width - cell_width(deptypes + guides + hash_) - 2
    name, virtuals = full_name(node.spec), virtuals_text(node)
    if cell_width(name + virtuals) > room:
        virtuals = ""
    name = shorten(name, room - cell_width(virtuals))
    before, after = (virtuals, "") if virtuals.endswith("=") else ("", virtuals)
    room -= cell_width(name + virtuals)
    if cell_width(remark) + 2 > room:
        remark = STATUS_SIGNS[node.spec.status] if differs is None else DIFFERS
    remark = remark if cell_width(remark) + 2 <= room else ""
    is_dim = bool(node.spec.status) or fold == "↑"
    style = "differs" if differs else "dim" if is_dim else ""
    return [
        (deptypes, "dim"),
        (guides, "dim"),
        (f"{fold} ", "accent" if fold in "▸▾" else "dim"),
        (before, "virtual"),
        *_name(tree, name, style),
        (after, "virtual"),
        (f"{_TREE_GAP}{remark}" if remark else "", remark_style),
        (" " * (room - (cell_width(remark) + 2 if remark else 0)), ""),
        (hash_, "hash" if node.builds == 1 else "dim"),
    ]


def _name(tree: Tree, name: str, style: str) -> list[Piece]:
    if not tree.search:
        return [(name, style)]
    return [(text, each or style) for text, each in highlight(name, [clean(tree.search)])]


def _guides(tree: Tree, row: int, room: int) -> str:
    guides, depth = tree.guides[row], tree.lines[row].depth
    most = max(6, room - _MIN_TREE_NAME)
    if len(guides) <= most:
        return guides
    return pad(f"{depth}·", most - 2) + guides[-2:]


def _remark(tree: Tree, row: int, differs: str | None) -> tuple[str, str]:
    """Return the remark on the spec of a line (repeated, absent, differs), and its style."""
    node = tree.lines[row]
    assert node.spec is not None
    if differs:
        return shorten(f"{DIFFERS} {clean(differs)}", _MAX_REMARK), "differs"
    if node.share:
        return f"in {node.share:,} of {len(tree.members):,}", "differs"
    if differs is not None:
        return f"{DIFFERS} below", "dim"
    return STATUS_TEXTS[node.spec.status], "dim"

"""Lay out the values of a spec and the lines of its tree: imported with the first spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import DEPTYPES
from spackscope.model.core.text import cell_width, clean, pad, shorten, wrap
from spackscope.model.index.tree import Tree
from spackscope.model.report.detail import (
    DIFFERS,
    FITS,
    INSTALL,
    SAME_IN_ALL,
    STATUS_SIGNS,
    STATUS_TEXTS,
    UNLIKE_ROWS,
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
from spackscope.model.report.relations import DOWNLOAD, NEEDS, NEXT_TO, UNLIKE_EACH_OTHER, USED_BY
from spackscope.model.report.report import Flow, LinePart, Piece, highlight, styled
from spackscope.model.report.signing import ARCHIVE, SIGNED
from spackscope.model.report.table_columns import signed
from spackscope.tui.keymap import Hint, hint, with_written_keys
from spackscope.tui.process.stdio import is_plain
from spackscope.tui.widgets.virtual_list import Browse

GAP = "  "
"""The blanks between two values."""
_PLAIN_SUFFIX = ("title", "link")
LEGEND = GAP.join(f"{name[0]} {name}" for name in DEPTYPES)
"""The legend of the letters before the lines of a tree: dependency types."""


LayoutRow = Sequence[LinePart]
"""The parts of a row of the pane: values that the cursor can be on, keys, labels and blanks."""


def _put(flow: Flow, line: DetailLine, *, suffixes: bool) -> None:
    """Add a value to the current row, to the next one if it is too long, or to several rows."""
    suffix = line.suffix if suffixes else ""
    text, lead = line.text + suffix, line.lead if line.lead.startswith(" ") else GAP + line.lead
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


LOW, TALL = 6, 14
"""Heights of a pane: below the first variants have one row, from the second lists have several."""

_LABEL_WIDTHS = ((42, 20), (30, 13), (0, 10))
"""The least width of a pane, and the cells of its labels from that width on."""
_FACTS = ("compiler", "os", "target", "platform")
"""The labels of the values that follow each other in a row without labels."""
_ORDER = (
    *(_FACTS[0], UNLIKE_ROWS, VARIANTS, UNLIKE_EACH_OTHER, INSTALL, ARCHIVE, NEXT_TO),
    *(NEEDS, USED_BY, SAME_IN_ALL, FITS, "reusable", DOWNLOAD, SIGNED),
)
_MIN_WIDTH_FOR_COMMAND = 59
"""Cells from which on the command needs one row only; below, it comes after the needs."""
_NARROW_ORDER = (*(label for label in _ORDER if label != INSTALL), INSTALL)
_LISTS = (ARCHIVE, NEXT_TO, UNLIKE_EACH_OTHER, NEEDS, USED_BY)
_MAX_LIST_ROWS = 4
_MIN_WIDTH_FOR_HINTS = 40
_SHORT = 40
_NARROW = 64
_MIN_END, _MIN_TITLE = 6, 12


def layout(lines: Sequence[DetailLine], width: int, height: int) -> list[LayoutRow]:
    """Return the rows of a pane below its rule, the labels with the most important first."""
    lines = [
        replace(line, suffix=with_written_keys(line.suffix)) if line.suffix else line
        for line in lines
    ]
    if is_plain():
        return [row for block in plain_blocks(lines) for row in _plain_rows(block, width)]
    title, blocks = _blocks(lines, width, height)
    rows = _title_rows(title, width) if title else []
    for block in blocks:
        rows += _block_rows(block, width, height)
    return rows


Block = Sequence[DetailLine]
"""The values of one label."""


def _plain_rows(block: Block, width: int) -> list[LayoutRow]:
    """Return the values of a block after `label:`, on as many rows as they need."""
    flow = Flow(width)
    flow.add(f"{block[0].label}:")
    for line in (replace(block[0], lead=" "), *block[1:]):
        _put(flow, line, suffixes=True)
    return [*flow.lines]


def _blocks(lines: Sequence[DetailLine], width: int, height: int) -> tuple[Block, list[Block]]:
    """Return the values after the name, and the blocks of the labels in the order of the pane."""
    title: list[DetailLine] = []
    facts: list[DetailLine] = []
    blocks: list[Block] = []
    for block in blocks_of(lines):
        first = block[0]
        if first.at_end or first.style == "title":
            title += [line for line in block if not line.at_end and line.style != "title"]
        elif first.label in _FACTS:
            # Without its label a value of "none" would not name the missing fact.
            text = signed(first.label, first.text) if first.text == "none" else first.text
            facts.append(replace(first, text=text))
        else:
            blocks.append(block)
    if facts:
        first, *rest = sorted(facts, key=lambda fact: _FACTS.index(fact.label))
        blocks.append([first, *(replace(fact, label="") for fact in rest)])
    order = _ORDER if width >= _MIN_WIDTH_FOR_COMMAND else _NARROW_ORDER
    rank = {label: number for number, label in enumerate(order)}
    blocks.sort(key=lambda block: rank.get(block[0].label, len(rank)))
    ranked = [block for block in blocks if block[0].label in rank]
    others = blocks[len(ranked) :]
    return title, [*ranked, *(_joined(others) if width > _SHORT else others)]


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """Join blocks of one short value each, so that several labels share a row."""
    joined: list[list[DetailLine]] = []
    can_join = False
    for block in blocks:
        first = block[0]
        is_short = len(block) == 1 and cell_width(first.label + first.text) <= _SHORT
        if is_short and can_join:
            lead = f"{first.label} {first.lead}"
            joined[-1].append(replace(first, label="", lead=lead))
        else:
            joined.append([*block])
        can_join = is_short
    return [*joined]


def _title_rows(title: Block, width: int) -> list[LayoutRow]:
    """Return what follows the name in the title: a suffix goes first, then the end of the hash."""

    def texts(hash_: slice, *, suffixes: bool = False) -> list[tuple[DetailLine, str]]:
        return [
            (line, f"/{line.text[hash_]}")
            if line.style == "hash"
            else (line, line.text + line.suffix * suffixes)
            for line in title
        ]

    whole = slice(None)
    forms = texts(whole, suffixes=True), texts(whole), texts(slice(SHORT_HASH))
    fitting = (form for form in forms if _joined_width([text for _, text in form]) <= width)
    flow = Flow(width)
    for line, text in next(fitting, forms[-1]):
        flow.add("" if flow.is_empty else (line.lead or GAP))
        flow.add(shorten(text, flow.room, keep="start"), line.style, line)
    return [*flow.lines]


def rule_texts(
    lines: Sequence[DetailLine], width: int
) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
    """Return the name of the spec and, at the right end of a rule, its state.

    The name is cut before the state; a click on a state filters by it.
    """
    name = next((line.text for line in lines if line.style == "title"), "")
    end, right = [line for line in lines if line.at_end], list[LinePart]()
    for line, text in zip(end, _end_texts(end, width - _MIN_TITLE), strict=False):
        right += [LinePart([(GAP, "rule")])] * bool(right)
        right.append(LinePart([(text, f"plain {line.style}")], Browse("add_term", line.term)))
    room = width - sum(part.width for part in right)
    return [LinePart([(shorten(name, room), "")])] * bool(name), right


def tree_rule_texts(
    lines: Sequence[DetailLine], tree: Tree, remarks: Sequence[str], width: int
) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
    """Return the spec of a tree, the filters of the tree and remarks; at the right the legend."""
    names = [
        line.text if line.style == "title" else f"/{line.text[:SHORT_HASH]}"
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
        text = shorten(line.lead + line.text, room, keep="start")
        if cell_width(text) < min(_MIN_END, cell_width(line.lead + line.text)):
            break
        texts.append(text)
        room -= cell_width(text) + len(GAP)
    return texts


def _joined_width(texts: Sequence[str]) -> int:
    return sum(map(cell_width, texts)) + len(GAP) * max(0, len(texts) - 1)


def _block_rows(block: Block, width: int, height: int) -> list[LayoutRow]:
    """Return the rows of a block, with the hints of its label at the end of the first row."""
    first = block[0]
    is_wide = width >= _MIN_WIDTH_FOR_HINTS
    hints = [each for name, word in first.hints for each in hint(name, word) if is_wide]
    hints_width = sum(cell_width(f"{key.shown} {key.word}") for key in hints) + 3 * (
        len(hints) - 1
    )
    margin = min(next(cells for least, cells in _LABEL_WIDTHS if width >= least), width // 2)
    if first.label in _FACTS or (first.label == INSTALL and not first.style):
        margin = 0
    room = width - (hints_width + len(GAP) if hints else 0)
    if first.label == INSTALL and cell_width(first.text) > room:
        hints, room = [], width
    rows = _fitting_rows(block, room, margin, _max_rows(first.label, width, height))
    if hints:
        rows[0] = _with_hints(rows[0], hints, width - hints_width)
    return rows


def _with_hints(row: LayoutRow, hints: Sequence[Hint], at: int) -> LayoutRow:
    parts = [*row, LinePart(styled(" " * (at - sum(part.width for part in row))))]
    for number, (shown, word, key) in enumerate(hints):
        parts += [LinePart(styled(" · ", "dim"))] * bool(number)
        parts.append(LinePart([(shown, "accent"), (f" {word}", "dim")], key))
    return parts


def _max_rows(label: str, width: int, height: int) -> int:
    """Return how many rows a label may have; 0 if there is no bound."""
    if label in (UNLIKE_ROWS, VARIANTS, SAME_IN_ALL) and height < TALL:
        return 1 if height < LOW else 2
    if label not in _LISTS:
        return 0
    if label == NEXT_TO and height >= LOW and width < _NARROW:
        return 2
    return _MAX_LIST_ROWS if height >= TALL else 1


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
    shown = [line for line in block[:count] if line.id is not None]
    return max(0, block[0].total - len(shown))


def _more(block: Block, count: int) -> DetailLine:
    text = f"{_left_out(block, count):,} more"
    return DetailLine(text, style="dim", hints=block[0].hints)


def _flow(
    block: Block, width: int, margin: int, most: int, *, suffixes: bool
) -> tuple[list[LayoutRow], int]:
    """Flow values into rows, at most one more than `most`, which shows that they do not fit.

    Return also how many values leave room to count the others after them; 0 without a count.
    """
    flow, fitting = Flow(width, margin), 0
    first, *others = block
    label = first.label
    together = f"{label} {first.text}"
    if first.style == "link" and label == NEXT_TO and cell_width(together) < margin:
        flow.add(f"{label} ", "dim")
        flow.add(first.text, first.style, first)
        flow.add(" " * (flow.room - (width - margin)))
    else:
        flow.add(pad(shorten(label, margin - 1), margin), "dim")
        _put(flow, first, suffixes=suffixes)
    for count, line in enumerate(others, 1):
        if len(flow.lines) > most > 0:
            break
        if first.total and line.lead != " ":
            is_low = len(flow.lines) < most
            if not fitting or is_low or cell_width(GAP + _more(block, count).text) <= flow.room:
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

"""The one table of jobs in worker threads and of times: which keys wait for what, and how long."""

from __future__ import annotations

from spackscope.model.core.frozen import Frozen
from spackscope.tui import keymap


class Job(Frozen):
    """A job in a worker thread; it replaces a running job of the same name.

    The job begins after `rest` seconds, in which a newer job may replace it. Keys with a need that
    `blocks` names (`keymap.Key.needs`, or a pane) wait for the job. Entries of one name are one
    job; an entry with fewer needs is for a job that has met the others, or shows rows again. A job
    that `gives_way` computes for seconds, and rests while the effect of a key is shown.
    """

    name: str
    rest: float = 0
    blocks: tuple[str, ...] = ()
    gives_way: bool = False


ECHO, BREATH = 0.1, 0.004
"""Seconds in which the effect of a key is shown and a job that gives way rests, and of each rest:
both threads want the one lock of Python."""
FIRST_FRAME = 0.5
"""Seconds that the first frame waits for the rows: it is drawn twice without them."""
ROWS_SHOWN = 2.0
"""Most seconds to wait for the first rows before sources are checked."""
CHECKED = 1.0
"""Seconds in which sources are checked behind the rows of their index before it is told."""
REPORT = 0.1
"""Seconds between two reports of what was counted so far."""
PACE = 0.15
"""Seconds between the starts of two readings of a detail: a held key passes many rows."""
KEY_PATIENCE = 1.0
"""Seconds that a key waits at most for the queues of messages to be empty."""
KEY_POLL = 0.002
"""Seconds after which a key that waits looks again."""
TYPED_AHEAD = 0.5
"""Seconds without a key after which the next one is not typed ahead."""
DIM = 0.25
"""Seconds after which the values of the last spec are dimmed: at every key, they would flicker."""

# Sources
LOAD = Job("load")
LOAD_MORE = Job("load", blocks=(keymap.ALL_SOURCES,))
LOAD_FIRST = Job("load", blocks=(keymap.ALL_SOURCES, keymap.SOURCES, keymap.SPEC))
# The query line gets the query of the command line once a catalog is loaded.
LOAD_FIRST_WITH_QUERY = Job("load", blocks=(*LOAD_FIRST.blocks, keymap.QUERY))
PATHS = Job("paths")

# Rows
VIEW = Job(
    "view", blocks=(keymap.ROW, keymap.SPEC, keymap.SPECS, keymap.DETAIL, keymap.COMPLETIONS)
)
VIEW_OF_MANY = Job("view", 0.05, VIEW.blocks)
ROWS = Job("rows", blocks=(keymap.ROW, keymap.SPEC))
NOTES = Job("notes", 0.1)
NOTES_FIRST = Job("notes")
COMPLETIONS = Job("completions", blocks=(keymap.COMPLETIONS,))
OVERVIEW = Job("overview", 0.1)
VALUES = Job("values", blocks=(keymap.VALUES,))
VALUES_AGAIN = Job("values", 0.1)
MARKING = Job("marking", blocks=(keymap.MARKED,))
MARKED = Job("marks", blocks=(keymap.MARKED,))

# The selected spec
EDGES = Job("edges", blocks=(keymap.LINES, keymap.DETAIL))
DETAIL = Job("detail", blocks=EDGES.blocks)
# A detail that is on the screen is read again, or to its end.
DETAIL_AGAIN = Job("detail")
# After this delay a detail is shown as far as it is read.
PATIENCE = Job("patience", 0.12)
TREE = Job("unfold", blocks=EDGES.blocks)
MIRRORS = Job("mirrors", 0.4)
HOST = Job("host")
FIT = Job("fit", 0.4)

# Answers
# Its rows are searched, not the query line.
SHEET = Job(
    "sheet", blocks=(keymap.SPEC, keymap.SPECS, keymap.DETAIL, keymap.QUERY), gives_way=True
)
# The cursor can move over the rows read so far.
SHEET_MORE = Job("sheet", blocks=(keymap.SPEC,), gives_way=True)
SHEET_ROW = Job("sheet-row", blocks=(keymap.SPEC,))
ASK_AGAIN = Job("ask-again", 0.3)

# Jobs that move the focus or open a dialog when they are done
JUMP = Job("jump", blocks=(keymap.FOCUS,))
FIND = Job("find", blocks=(keymap.FOCUS,))
MENU = Job("menu", blocks=(keymap.FOCUS,))

# Files
COPY = Job("copy")
EXPORT = Job("export")
READ_QUERIES = Job("history", blocks=(keymap.QUERIES,))
KEEP_QUERY = Job("keep")
REMEMBER_QUERY = Job("remember")
COLUMNS = Job("columns")

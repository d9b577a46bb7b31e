"""Describe errors that nothing expected."""

from __future__ import annotations

import os


def unexpected(error: BaseException) -> str:
    """Describe an error by its type and place; its message may hold what is secret.

    A limit of the memory, as `ulimit -v` sets, is not a mistake of the program.
    """
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    trace, place = error.__traceback__, ""
    while trace is not None:
        name = os.path.basename(trace.tb_frame.f_code.co_filename)
        place = f" ({name}:{trace.tb_lineno})"
        trace = trace.tb_next
    return f"unexpected {type(error).__name__}{place}"

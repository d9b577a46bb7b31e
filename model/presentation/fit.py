"""Say whether a spec runs on the host, and what a filter by that hides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from spackscope.model.analysis import fit_rules as rules
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.column import Value
from spackscope.model.core.columns import COLUMNS
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.records import NO, YES, Fit, FitReason
from spackscope.model.query.ast import Query

HERE = "here"
"""The place where specs run on this machine; else it is `on` a host."""

_MAX_REASONS = 4
"""Reasons that a sentence about many specs names."""

_TARGET_KNOWN = {rules.NOT_LISTED.label, rules.NOT_DESCRIBED.label}


def fit_sentences(fit: Fit, place: str = HERE) -> Iterator[tuple[str, str, str]]:
    """Yield sentences on whether a spec runs, each after its column and the value to filter by.

    Example: `("fits", "target too new", "does not run here: target zen4 > zen3")`.
    """
    running = [reason for reason in fit.reasons if reason.is_run]
    if fit.fits:
        yield "fits", YES, f"✓ runs {place}"
    elif fit.fits is None:
        labels = fit.fits_values[1:]
        target = f"; its target runs {place}" if _TARGET_KNOWN.issuperset(labels) else ""
        yield "fits", fit.fits_values[0], f"unknown: {', '.join(labels)}{target}"
    else:
        yield from _refusals("fits", f"does not run {place}", running)
    if fit.reusable is False:
        others = [reason for reason in fit.reasons if not reason.is_run]
        yield from _refusals("reusable", "Spack does not reuse it", others)


def _refusals(
    column: str, sentence: str, reasons: Sequence[FitReason]
) -> Iterator[tuple[str, str, str]]:
    refusals = [reason for reason in reasons if reason.letter]
    for number, reason in enumerate(refusals):
        lead = f"{sentence}: " if not number else ""
        yield column, reason.label, lead + reason.sentence


def hidden_by_host(catalog: Catalog, query: Query, should_stop: ShouldStop = never) -> str:
    """Return what the conditions of a query on the host hide, and why; empty without any.

    Example: "fits hides 41 of 63: target too new 30 · glibc 2.39 > 2.28: 8 · unknown 3". A spec
    may have several reasons. Raises Cancelled and IndexDamaged.
    """
    sentences = []
    for column in (column.name for column in COLUMNS if column.is_by_host):
        if groups := query.of_column(column):
            rest = query.without_column(column)
            try:
                counts = catalog.execution.count_by_host(rest, column, should_stop)
                shown = catalog.execution.count_by_host(query, column, should_stop)
            except Unanswerable:
                continue
            hidden = counts - shown
            text = " ".join(str(Query((group,))) for group in groups)
            if hidden:
                total = f"{hidden.total():,} of {counts.total():,}"
                sentences.append(f"{text} hides {total}: {_counted(hidden)}")
    return "; ".join(sentences)


def _counted(hidden: Counter[Value]) -> str:
    labels: Counter[str] = Counter()
    for value, count in hidden.items():
        answer, *reasons = value if isinstance(value, tuple) and value else ("",)
        # What is refused has a reason, which says more than the answer.
        for label in reasons if answer == NO else (answer,):
            labels[label] += count
    texts = [f"{label}{_before_number(label)}{n:,}" for label, n in labels.most_common()]
    more = len(texts) - _MAX_REASONS
    return " · ".join([*texts[:_MAX_REASONS], *([f"and {more} more"] if more > 0 else [])])


def _before_number(label: str) -> str:
    return ": " if label[-1:].isdigit() else " "

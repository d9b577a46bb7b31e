"""Turn records into plain, clean strings: table cells, detail lines, spec strings, commands."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from spackscope.model.core.cells import size_text
from spackscope.model.core.records import Provenance, Spec, is_hash
from spackscope.model.core.text import clean, is_clean
from spackscope.model.presentation.spec_string import short_digests, spec_string
from spackscope.model.query.ast import Term, exact_term
from spackscope.model.query.matchers import split_variant

DIFFERS = "≠"
"""Stands before a variant whose value differs among the rows shown."""

UNTOLD = Provenance()


@dataclass(frozen=True, slots=True)
class DetailLine:
    """Hold one line of the detail pane; `term` is the filter that its value stands for.

    A line that `goes_on` has another value of the label above it.
    """

    text: str
    label: str = ""
    term: Term | None = None
    kind: Literal["title", "hash", "head", "plain", "differs", "same"] = "plain"
    goes_on: bool = False


def variants_cell(variants: tuple[str, ...], varying: Mapping[str, int]) -> tuple[str, str]:
    """Give the variants that differ among the rows, telling ones first, and the others."""
    telling = sorted(
        (text for text in variants if split_variant(text)[0] in varying),
        key=lambda text: varying[split_variant(text)[0]],
    )
    rest = [text for text in variants if split_variant(text)[0] not in varying]
    shown = (" ".join(map(short_digests, texts)) for texts in (telling, rest))
    first, last = map(clean, shown)
    return first, last


def install_command(spec: Spec) -> str:
    """Give the line that installs this very binary and builds nothing."""
    assert is_hash(spec.hash)
    return f"spack install --cache-only {shlex.quote('/' + spec.hash)}"


def detail(
    spec: Spec,
    *,
    varying: Mapping[str, int],
    alike: int,
    shown: int,
    told: Provenance = UNTOLD,
) -> list[DetailLine]:
    """Describe a record line by line, and where it comes from as far as that is `told`.

    `varying` names the variants whose values differ among the rows shown, `alike` counts the
    shown records that differ from this one in their hash at the most, itself among them.
    """
    lines = [
        DetailLine(clean(f"{spec.package}@{spec.version}"), kind="title"),
        DetailLine(spec.hash, term=Term("hash", spec.hash), kind="hash"),
    ]
    for column, value in (
        ("package", spec.package),
        ("version", spec.version),
        ("compiler", spec.compiler),
        ("platform", spec.platform),
        ("os", spec.os),
        ("target", spec.target),
        ("namespace", spec.namespace),
        ("tag", spec.tag),
    ):
        if column in ("namespace", "tag") and not value:
            continue
        lines.append(DetailLine(clean(value) or "-", column, _term(column, value)))
    if spec.cached or spec.size is not None:
        lines.append(DetailLine(size_text(spec.size), "size"))
    lines += _several("stacks", "stack", spec.stacks)
    lines += _several("state", "state", spec.states)
    lines += _variant_lines(spec, varying)
    if alike > 1:
        lines.append(DetailLine("look-alikes", kind="head"))
        others = f"{alike - 1:,} of {shown:,} shown" if shown else f"{alike - 1:,}"
        text = f"{others} {'is' if alike == 2 else 'are'} alike but for the hash"
        lines.append(DetailLine(text))
    lines.append(DetailLine("spec", kind="head"))
    lines.append(DetailLine(spec_string(spec)))
    lines.append(DetailLine("install", kind="head"))
    lines.append(DetailLine(_why_not_installed(spec, told) or install_command(spec)))
    lines.append(DetailLine("from", kind="head"))
    lines += _origin_lines(spec, told)
    return lines


def _several(label: str, column: str, values: Sequence[str]) -> Iterator[DetailLine]:
    """Give a line for each value, the first one with the label."""
    for number, value in enumerate(values):
        term = _term(column, value)
        yield DetailLine(clean(value), "" if number else label, term, goes_on=number > 0)


def _why_not_installed(spec: Spec, told: Provenance) -> str:
    """Say why there is no line that would install a spec, where that is known."""
    if told.external:
        return clean(f"nothing to install: it is external, at {told.external}")
    if spec.installed and not spec.cached:
        return "it is installed, and in no build cache"
    if not spec.in_cache:
        return "nothing to install: the cache has no archive of it"
    return ""


def _origin_lines(spec: Spec, told: Provenance) -> Iterator[DetailLine]:
    yield from _several("source", "source", spec.sources)
    yield DetailLine(clean(spec.origin), "document")
    when = ""
    if told.installed_at is not None:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(told.installed_at))
    for label, text in (
        ("prefix", told.path),
        ("installed", when),
        ("external", told.external),
        ("built as", f"/{told.build_spec}" if told.build_spec else ""),
        ("recipe", told.package_hash),
    ):
        if text:
            yield DetailLine(clean(text), label)


def _variant_lines(spec: Spec, varying: Mapping[str, int]) -> list[DetailLine]:
    differing = [v for v in spec.variants if split_variant(v)[0] in varying]
    same = [v for v in spec.variants if split_variant(v)[0] not in varying]
    head = f"variants {len(spec.variants)}"
    if differing:
        head += f" · {DIFFERS} tells rows apart"
    lines = [DetailLine(head, kind="head")]
    differing.sort(key=lambda v: varying[split_variant(v)[0]])
    for variant in differing:
        text = clean(short_digests(variant))
        lines.append(DetailLine(text, "", _term("variants", variant), "differs"))
    for variant in same:
        text = clean(short_digests(variant))
        lines.append(DetailLine(text, "", _term("variants", variant), "same"))
    if spec.flags:
        lines.append(DetailLine("flags", kind="head"))
    lines += [DetailLine(clean(flags), "", _flags_term(flags)) for flags in spec.flags]
    return lines


def _flags_term(flags: str) -> Term | None:
    return Term("flags", flags) if is_clean(flags) else None


def _term(column: str, value: str) -> Term | None:
    return exact_term(column, value) if value else None

"""Describe a record value by value, the builds of a folded row, and dependencies."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spackscope.model.analysis.dag import Dag
from spackscope.model.core.columns import (
    BY_NAME,
    DETAILED,
    SHORT_HASH,
    Column,
    Value,
    sizes_text,
    spec_name,
)
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import (
    DEPTYPES,
    NO_VIRTUALS,
    UNKNOWN,
    YES,
    Fit,
    Spec,
    short_digests,
)
from spackscope.model.core.rules import PREFERRED
from spackscope.model.core.text import clean, counted, is_clean
from spackscope.model.index import tree
from spackscope.model.index.edges import Edge
from spackscope.model.index.tree import MAX_CHILDREN, GraphSpec, Status, Tree, TreeNode
from spackscope.model.query.ast import Term, exact_term
from spackscope.model.report.paste import install_command, spec_string
from spackscope.model.report.report import Line, Style
from spackscope.model.report.table_columns import split_variants
from spackscope.model.sources.site_url import record_url

if TYPE_CHECKING:
    from spackscope.model.analysis.needs import NeededSpec, Needs
    from spackscope.model.sources.mirror_spec import MirrorEntry, Signer

DIFFERS = "≠"
"""The sign between two values, and before a difference."""

FITS, INSTALL, VARIANTS, SAME_IN_ALL = "runs here", "install", "variants", "same in all"
BUILDS = "builds"
"""The label of the sentence on the builds of a row."""

HERE = "here"
"""The phrase for this machine; for another host it is `on` and its name."""

_GOOD_STATES = ("cached", "installed")
_NOT_KNOWN = "not known"

_MAY_EXPIRE = "only in develop, of the tags read: gone 14 days after Spack's CI last used it"
"""By the rule of `fetch_keeplists.py` of images/ci-prune-buildcache in spack-infrastructure."""

_COPY_HINTS = (("copy", "hash"), ("copy-as", "other forms"))


LineHint = tuple[str, str]
"""The name of a key in the table of keys, and a word for its effect."""


class DetailLine(Frozen):
    """One value of the detail; `id` is the record that it leads to.

    `filter` is the column and the value that the filter `term` asks for. Values with the same
    `label` follow each other; a value without one belongs to the value before it. `lead` is
    written before a value in place of blanks, `suffix` after it where there is room. A value
    `at_end` is at the right end of the title. `hints` are names of keys with words, shown once for
    a label. `total` counts all values of the label if only some are listed, else it is 0.
    """

    text: str
    label: str = ""
    filter: tuple[str, str] | None = None
    style: Style = ""
    id: int | None = None
    lead: str = ""
    suffix: str = ""
    at_end: bool = False
    hints: tuple[LineHint, ...] = ()
    total: int = 0

    @property
    def term(self) -> Term | None:
        """The filter for the value, if it has one."""
        return exact_term(*self.filter) if self.filter is not None else None


def blocks_of(lines: Iterable[DetailLine]) -> list[list[DetailLine]]:
    """Return the values of each label in a block; the title has a block with values below it."""
    blocks: list[list[DetailLine]] = []
    for line in lines:
        first = blocks[-1][0] if blocks else line
        is_alike = not line.label or (line.label, line.at_end) == (first.label, first.at_end)
        if blocks and is_alike and line.style != "title":
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


_PLAIN_LABELS = {"title": "build", "hash": "hash"}


def plain_blocks(lines: Iterable[DetailLine]) -> list[list[DetailLine]]:
    """Return the values of each label in a block, also those that need no label on a screen."""
    return blocks_of(
        replace(line, label=_PLAIN_LABELS.get(line.style, line.label)) for line in lines
    )


def detail(
    spec: Spec,
    *,
    varying: Mapping[str, int],
    alike: int,
    shown: int,
    may_expire: bool = False,
    host_phrase: str = HERE,
) -> list[DetailLine]:
    """Describe a record value by value.

    `varying` ranks the variants whose values differ among the rows of the package; they come
    first. `alike` counts the shown records that differ from this one at most in their hash, this
    one included, and `shown` counts all shown records; it is 0 outside of a table. A record that
    `may_expire` is in the public cache, but in no release. `host_phrase` names the host: `here`,
    or `on` and a name.
    """
    lines = [
        DetailLine(spec_name(spec.package, spec.version), style="title"),
        DetailLine(spec.hash, filter=("hash", spec.hash), style="hash"),
        install_line(spec),
        *variant_lines(spec, varying),
        *column_lines(spec),
        *(fit_lines(spec.fit, host_phrase) if spec.fit is not None else ()),
    ]
    if alike > 1:
        of_shown = f" of {shown:,}" if shown else ""
        lines.append(DetailLine(f"{alike:,}{of_shown} builds look the same", "look-alikes"))
    if may_expire:
        lines.append(DetailLine(_MAY_EXPIRE, "kept"))
    lines.append(DetailLine(spec_string(spec), "spec"))
    return [*lines, *_origin_lines(spec)]


def column_lines(spec: Spec) -> Iterator[DetailLine]:
    """Yield the values of the columns."""
    for column in DETAILED:
        value = column.value(spec)
        if column.empty_in_detail(spec) or value not in (None, "", (), NO_VIRTUALS):
            yield from _column_lines(column, value)


def variant_lines(spec: Spec, varying: Mapping[str, int]) -> Iterator[DetailLine]:
    """Yield the variants, the varying ones first, and the compiler flags."""
    differing, same = split_variants(spec.variants, varying)
    others = SAME_IN_ALL if differing else VARIANTS
    for number, variant in enumerate((*differing, *same)):
        differs = number < len(differing)
        yield DetailLine(
            clean(short_digests(variant)),
            VARIANTS if differs else others,
            ("variants", variant) if variant else None,
            "differs" if differs else "same",
        )
    for flags in spec.flags:
        yield DetailLine(clean(flags), "flags", ("flags", flags) if is_clean(flags) else None)


def fit_lines(fit: Fit, host_phrase: str = HERE) -> Iterator[DetailLine]:
    """Yield whether a spec runs on a host, and each reason against running or reusing it.

    A preference for other specs is one, too, though Spack may reuse it.
    """
    if fit.fits:
        yield DetailLine(f"✓ runs {host_phrase}", FITS, ("fits", YES))
    elif fit.fits is None:
        reasons = ", ".join(reason.sentence for reason in fit.reasons if reason.is_run)
        yield DetailLine(clean(f"unknown: {reasons}"), FITS, ("fits", UNKNOWN))
    for column, start, is_run in (
        ("fits", f"does not run {host_phrase}: ", True),
        ("reusable", "Spack does not reuse it: ", False),
    ):
        label = BY_NAME[column].label
        for reason in fit.reasons:
            is_against = reason.is_run or reason.is_reuse
            if is_against and reason.is_run is is_run and not reason.rule.is_unknown:
                text = clean(start + reason.sentence)
                yield DetailLine(text, label, (column, reason.label))
                start = ""
    for reason in fit.reasons if fit.reusable else ():
        if reason.rule is PREFERRED:
            text = clean(f"Spack reuses it if it can have no other: {reason.sentence}")
            yield DetailLine(text, BY_NAME["reusable"].label, ("reusable", YES))


def fit_at_end(fit: Fit, line: DetailLine) -> DetailLine:
    """Return the first line of a fit in few words, for the end of the title."""
    line = replace(line, label=FITS, at_end=True)
    if fit.fits:
        return replace(line, style="good")
    if fit.fits is None:
        return replace(line, text="? may or may not run", style="dim")
    return replace(line, text=f"✗ {clean(fit.fits_values[1])}", style="error")


def _column_lines(column: Column, value: Value) -> Iterator[DetailLine]:
    """Yield the value of a column, or each value of a list."""
    if not isinstance(value, str | tuple):
        yield DetailLine(column.cell(value) if value is not None else _NOT_KNOWN, column.label)
        return
    is_state = column.name == "state"
    for text in (value,) if isinstance(value, str) else value:
        shown = column.cell(text) if isinstance(value, str) else clean(text)
        yield DetailLine(
            shown if text else _NOT_KNOWN,
            column.label,
            (column.name, text) if text else None,
            "good" if text in _GOOD_STATES and is_state else "",
            at_end=is_state,
        )


def install_line(spec: Spec) -> DetailLine:
    """Return the command that installs a spec, or the reason why no command would."""
    if spec.external:
        reason = clean(f"nothing to install: external at {spec.external}")
    elif spec.installed and not spec.cached:
        reason = "installed, but in no build cache"
    elif not spec.cached:
        reason = "no binary: none of your caches has the archive"
    elif spec.fit is not None and any(reason.rule.hides for reason in spec.fit.reasons):
        reason = "Spack needs an index that it reads to install by hash, and the mirror has none"
    else:
        return DetailLine(install_command(spec), INSTALL, hints=_COPY_HINTS)
    return DetailLine(reason, INSTALL, style="dim")


def _origin_lines(spec: Spec) -> Iterator[DetailLine]:
    yield from _column_lines(BY_NAME["source"], spec.sources)
    yield DetailLine(clean(spec.origin), "document")
    installed_at = ""
    if spec.installed_at is not None:
        installed_at = time.strftime("%Y-%m-%d %H:%M", time.localtime(spec.installed_at))
    for label, text in (
        ("page", record_url(spec)),
        ("prefix", spec.path),
        ("installed", installed_at),
        ("external", spec.external),
        ("built as", f"/{spec.build_spec}" if spec.build_spec else ""),
        ("recipe", spec.package_hash),
    ):
        if text:
            yield DetailLine(clean(text), label)


class Members(Frozen):
    """The specs of a row, and the number of their run-time kinds; 0 if unknown.

    `basis` says why the row shows its spec, and no other one.
    """

    ids: tuple[int, ...]
    kinds: int = 1
    basis: str = ""

    @property
    def run_differently(self) -> bool:
        """Whether the specs are known to be of several kinds."""
        return self.kinds > 1

    @property
    def sentence(self) -> str:
        """How several builds of the row run; what they differ in may follow."""
        count = f"{len(self.ids):,} builds look the same"
        if not self.run_differently:
            return f"{count}: only build dependencies differ" if self.kinds else count
        is_each = self.kinds == len(self.ids)
        return f"{count}, but run {'differently' if is_each else f'in {self.kinds:,} ways'}"

    @property
    def choice(self) -> str:
        """The phrase for the spec of the row as one of all, before the words on how they run."""
        count = f"{len(self.ids):,} builds"
        basis = self.basis if self.run_differently else "any" if self.kinds else "one"
        return f"{basis} of {count}"


def with_members(lines: list[DetailLine], members: Members) -> list[DetailLine]:
    """Return the lines of the spec of a row, with how its builds run after its hash."""
    if len(members.ids) < 2:
        return lines
    at = next(number for number, line in enumerate(lines, 1) if line.style == "hash")
    return [*lines[:at], DetailLine(members.sentence, BUILDS), *lines[at:]]


STATUS_TEXTS: dict[Status, str] = {
    "": "",
    "external": "external",
    "unlisted": "dependency only",
    "absent": "not in this index",
}
STATUS_SIGNS: dict[Status, str] = {"external": "e", "unlisted": "-", "absent": "?", "": " "}
"""Why a spec has no row in the table: in words, and as a sign in the tree."""
_HEADS: dict[tree.TreeSection, tuple[str, str]] = {
    "dependencies": ("depends on", "depends on nothing"),
    "dependents": ("used by", "used by nothing"),
}


def deptypes_sign(deptypes: Collection[str]) -> str:
    """Spell deptypes as Spack's trees do: a letter or a blank each for build, link, run, test."""
    return f"[{''.join(name[0] if name in deptypes else ' ' for name in DEPTYPES)}]"


def head_text(node: TreeNode) -> str:
    """Return the head with the number of dependencies or dependents of a spec."""
    text, nothing = _HEADS[node.section]
    if node.is_unfolded and node.count > MAX_CHILDREN:
        return f"{text} {node.count:,}, first {MAX_CHILDREN:,} shown"
    return f"{text} {node.count:,}" if node.count else nothing


def fold_sign(tree: Tree, row: int) -> str:
    """Return the sign of a line: unfolded, folded, repeated, or without children."""
    node = tree.lines[row]
    if node.edge is not None and tree.is_repeated(row):
        return "↑"
    if not node.count:
        return " "
    return "▾" if node.is_unfolded else "▸"


def virtuals_text(node: TreeNode) -> str:
    """Spell the virtuals of an edge: before a dependency `mpi=`, after a dependent ` as mpi`."""
    virtuals = clean(",".join(node.edge.virtuals)) if node.edge is not None else ""
    if not virtuals:
        return ""
    return f"{virtuals}=" if node.section == "dependencies" else f" as {virtuals}"


def dependency_line(edge: Edge, spec: GraphSpec) -> Line:
    """Spell a dependency in one line, with deptypes as in Spack's trees."""
    virtuals = clean(",".join(edge.virtuals))
    return (
        (f"{deptypes_sign(edge.deptypes)} ", "dim"),
        *(((virtuals, "virtual"), ("=", "")) if virtuals else ()),
        (full_name(spec), ""),
        (f" /{short_hash(spec)}", "hash"),
        *(((f" ({STATUS_TEXTS[spec.status]})", "dim"),) if spec.status else ()),
    )


def full_name(spec: GraphSpec) -> str:
    """Return the name of a spec with its version."""
    return spec_name(spec.name, spec.version)


def short_hash(spec: GraphSpec) -> str:
    """Return the beginning of the hash of a spec."""
    return clean(spec.hash)[:SHORT_HASH]


NEXT_TO, NEEDS, USED_BY = "next to", "needs", "used by"
DIFFER_IN, DOWNLOAD = "differ in", "download"
"""The labels of the lines."""

COMPARE_HINTS = (("diff", "diff"),)
TREE_HINTS, USERS_HINTS = (("tree", "tree"),), (("users", "users"),)

UNLISTED = "This source lists no dependencies"

_RUNTIMES = ("libc", "gcc-runtime", "compiler-wrapper", "intel-oneapi-runtime")
"""Packages and virtuals that nearly all specs need: they come last."""

_MAX_NAMED = 60
"""The most values of a line: the tree has all of them."""


def pending_lines(labels: Iterable[str]) -> list[DetailLine]:
    """Return placeholders for lines still to be read, so that lines below them move little."""
    return [DetailLine("…", label, style="dim") for label in labels]


def needs_line(needs: Needs | None) -> str:
    """Count the specs that a spec needs: `12 specs, 3 installed, 210 MB + 4 unknown`."""
    if needs is None:
        return UNLISTED
    parts = [("at least " if needs.is_unknown else "") + counted(len(needs.specs), "spec")]
    if installed := len(needs.specs) - len(needs.to_fetch):
        parts.append(f"{installed:,} installed")
    if not_cached := sum(not each.spec.cached for each in needs.to_fetch):
        parts.append(f"{not_cached:,} not cached")
    if sizes := [each.spec.size for each in needs.to_fetch]:
        parts.append(sizes_text(sizes))
    return ", ".join(parts)


def _rank(needed: NeededSpec) -> tuple[bool, bool, bool]:
    """Return a key by which direct dependencies come first, then providers of a virtual."""
    names = (needed.spec.package, *needed.virtuals)
    return not needed.is_direct, any(name in _RUNTIMES for name in names), not needed.virtuals


def needs_values(needs: Needs) -> Iterator[DetailLine]:
    """Yield the link/run closure of a spec besides itself, and the download."""
    specs = sorted(needs.specs[1:], key=_rank)
    if not specs:
        yield DetailLine("nothing else", NEEDS, style="dim", hints=TREE_HINTS)
    for spec in specs[:_MAX_NAMED]:
        name = spec_name(spec.spec.package, spec.spec.version)
        yield DetailLine(name, NEEDS, id=spec.id, style="link", hints=TREE_HINTS, total=len(specs))
        if spec.virtuals:
            virtuals = clean(", ".join(spec.virtuals))
            yield DetailLine(f"({virtuals})", style="virtual", lead=" ")
    yield DetailLine(needs_line(needs), DOWNLOAD)


def user_values(graph: Dag, users: Sequence[int], total: int) -> Iterator[DetailLine]:
    """Yield some dependents of a spec; `total` counts all of them."""
    if not users:
        yield DetailLine("nothing here", USED_BY, style="dim")
    for user in users:
        version = graph.version(user)
        yield DetailLine(
            clean(graph.name(user)) or "(no name)",
            USED_BY,
            style="link",
            id=user,
            suffix=clean(f"@{version}") if version else "",
            hints=USERS_HINTS,
            total=total,
        )


SIGNED, ARCHIVE = "signed", "archive"
"""The labels of the values of a spec."""

NOT_VERIFIED = "not verified"
UNSIGNED = "no: spack install needs --no-check-signature"
UNCHECKED = "no, and your Spack does not require it of this mirror"
REGISTRY = "Spack does not sign what it pushes to a registry"
_LISTED = {
    "missing": "listed, but the archive is missing",
    "forbidden": "listed, but the mirror refuses the archive",
    "wrong size": "listed, but the archive is incomplete",
}


def signing_lines(entries: Sequence[MirrorEntry], *, is_full: bool = True) -> Iterator[DetailLine]:
    """Yield the signatures of a spec, and whether the archive is there.

    If several mirrors list the spec, each value begins with the name of the mirror. A present
    archive is mentioned only if `is_full`.
    """
    values = [_values(entry, is_full=is_full) for entry in entries]
    for label in (SIGNED, ARCHIVE):
        for entry, of_entry in zip(entries, values, strict=True):
            lead = clean(f"{entry.source}: ") if len(entries) > 1 else ""
            for text, style in of_entry[label]:
                yield DetailLine(clean(text), label, style=style, lead=lead)
                lead = ""


def with_signing(
    lines: Sequence[DetailLine], entries: Sequence[MirrorEntry]
) -> Sequence[DetailLine]:
    """Return the lines of a spec with lines on its signature at the end.

    A missing archive comes right after the line with the install command.
    """
    more = [*signing_lines(entries)]
    at = next((n for n, line in enumerate(more) if line.label == ARCHIVE), len(more))
    if not any(line.style == "error" for line in more[at:]):
        return [*lines, *more]
    after = next((n for n, line in enumerate(lines, 1) if line.label == INSTALL), len(lines))
    return [*lines[:after], *more[at:], *lines[after:], *more[:at]]


def _values(entry: MirrorEntry, *, is_full: bool) -> dict[str, list[tuple[str, Style]]]:
    """Return the texts on an entry with their styles, by label."""
    signed: list[tuple[str, Style]] = []
    archive: list[tuple[str, Style]] = []
    signer, why = entry.signer, entry.archive_problem
    if entry.layout == "OCI":
        signed = [(f"no: {REGISTRY}", "dim")]
    elif entry.is_signed is None:
        signed = [(f"unknown: {entry.problem}", "dim")] if entry.archive != "missing" else []
    elif signer is None:
        signed = [(UNSIGNED if entry.is_checked else UNCHECKED, "")]
    else:
        signed = [(text, "") for text in signer_texts(signer)]
        signed.append((NOT_VERIFIED, "dim"))
    if entry.archive in _LISTED:
        if not why.startswith("listed, but"):
            # The name of the file has a line of its own.
            why = re.sub(
                r"^( does not exist| is forbidden)?[: ]*", "", why.removeprefix(entry.archive_file)
            )
            why = f"{_LISTED[entry.archive]}: {why}".rstrip(": ")
        archive = [(why, "error")]
        if entry.archive_file:
            archive.append((entry.archive_file, "dim"))
    elif is_full and (entry.archive == "present" or why):
        archive = [(f"unknown: {why}", "dim") if why else ("present", "good")]
    return {SIGNED: signed, ARCHIVE: archive}


def signer_texts(signer: Signer) -> list[str]:
    """Return the key that a signature names, the owner of this key, and the day of signing."""
    signature = signer.signature
    by = signature.fingerprint or signature.key_id
    texts = [f"by key {by}" if by else "by an unnamed key"]
    if signer.owner:
        texts.append(f"{signer.owner}, in the keyring of your Spack")
    if signature.created is not None:
        texts.append(time.strftime("%Y-%m-%d", time.gmtime(signature.created)))
    return texts


def entries_json(entries: Iterable[MirrorEntry]) -> list[dict[str, Any]]:
    """Return the entries of a spec in mirrors, for JSON."""
    return [
        {
            "source": entry.source,
            "layout": entry.layout,
            "document": entry.document,
            "signed": False if entry.layout == "OCI" else entry.is_signed,
            "key": None if entry.signer is None else _signer_json(entry.signer),
            "archive": entry.archive,
            "archive_file": entry.archive_file,
            "problem": entry.problem or entry.archive_problem,
        }
        for entry in entries
    ]


def _signer_json(signer: Signer) -> Mapping[str, Any]:
    signature = signer.signature
    return {
        "fingerprint": signature.fingerprint,
        "key_id": signature.key_id,
        "owner": signer.owner,
        "created": signature.created,
        "verified": False,
    }

"""Describe the signatures of a spec; a signature is read, and never verified."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spackscope.model.core.text import clean
from spackscope.model.report.detail import INSTALL, DetailLine
from spackscope.model.report.report import Style

# The module that reads signatures is imported only where they are asked for.
if TYPE_CHECKING:
    from spackscope.model.sources.mirror_spec import MirrorEntry, Signer

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

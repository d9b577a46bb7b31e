"""List what records of staged documents other documents may list, too."""

from __future__ import annotations

from collections.abc import Mapping

from spackscope.model.index.dictionaries import Dictionaries
from spackscope.model.index.old_index import ANY
from spackscope.model.index.staged import Staged, StagedDocument


class Overlaps:
    """The pages and records that are staged, as an old index is asked for them."""

    def __init__(
        self,
        staged: Staged,
        documents: Mapping[int, StagedDocument],
        dictionaries: Dictionaries,
    ) -> None:
        self._staged = staged
        self._documents = documents
        self._dictionaries = dictionaries

    def pages(self) -> set[tuple[int, str, str]]:
        """Return the source, tag and package of each page."""
        codes = self._staged.codes
        pages = set(zip(codes["document"], codes["tag"], codes["package"], strict=True))
        return {
            (
                self._documents[document].source,
                self._dictionaries.entry("tag", tag),
                self._dictionaries.entry("package", package),
            )
            for document, tag, package in pages
            if self._documents[document].is_page
        }

    def records(self) -> dict[str, set[int]]:
        """Return the hashes of all records, and of each the sources of the pages that list it.

        A document that is not a page, or has no tag, stands for any source.
        """
        codes, tags = self._staged.codes, self._dictionaries["tag"]
        sources = [
            self._documents[document].source
            if self._documents[document].is_page and tag != tags.get("", -1)
            else ANY
            for document, tag in zip(codes["document"], codes["tag"], strict=True)
        ]
        records: dict[str, set[int]] = {}
        for number, look_alike in enumerate(self._staged.look_alikes):
            records.setdefault(self._staged.hash_at(number), set()).add(sources[look_alike])
        return records

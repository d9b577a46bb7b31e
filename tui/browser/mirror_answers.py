"""Ask mirrors about the selected spec: whether they have it, its size, and who signed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.detail import DetailLine
from spackscope.model.report.signing import signing_lines
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost


class MirrorAnswer(NamedTuple):
    """The size of the archive of a spec, if a mirror has it, and the lines on its signature."""

    size: float | None = None
    lines: Sequence[DetailLine] = ()


class MirrorAnswers:
    """Ask the mirrors about the selected spec in a job, and keep the answers."""

    def __init__(self, host: BrowserHost) -> None:
        self._host = host
        self._answers: dict[tuple[str, ...], MirrorAnswer] = {}

    def of(self, spec: Spec) -> MirrorAnswer | None:
        """Return the answer of the mirrors of a spec; None before they have answered."""
        return self._answers.get(_key(spec))

    def forget(self) -> None:
        """Stop asking, and forget all answers: the sources were read again."""
        self._host.cancel(jobs.MIRRORS)
        self._answers = {}

    def ask(self, spec: Spec, catalog: Catalog, done: Callable[[Spec], None]) -> None:
        """Ask the mirrors of a spec once the cursor rests on it, then call `done`."""

        def take(answer: MirrorAnswer) -> None:
            self._answers[_key(spec)] = answer
            if answer != MirrorAnswer():
                done(spec)

        self._host.run(lambda _: self._read(spec, catalog), take, jobs.MIRRORS)

    def _read(self, spec: Spec, catalog: Catalog) -> MirrorAnswer:
        # Most who start the program look at no detail of a mirror.
        from spackscope.model.sources.mirror_spec import Mirrors

        session = replace(self._host.session)
        mirrors = Mirrors(catalog.sources, session, self._host.sources)
        signed = mirrors.entries(spec)
        # The manifest that has the size is in the cache now.
        size = mirrors.sizes([spec]).get(spec.hash, spec.size)
        return MirrorAnswer(size, tuple(signing_lines(signed, is_full=False)))


def _key(spec: Spec) -> tuple[str, ...]:
    """Return the key of an answer: the hash, the tag and the sources of a spec."""
    return spec.hash, spec.tag, *spec.sources

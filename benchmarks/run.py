"""Run the benchmarks, and write their figures into the README beside this file.

python -m benchmarks.run --specs 4000 start find
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks import analyses, answers, building, commands, corpus, spack_index, terminal
from benchmarks.measurements import Figures

SIZES = (4_000, 60_000, 425_000)
LARGEST = 4_000_000
_OF_PAGES = {"start", "find", "build", "open", "keys", "peers", "bytes"}
_ANALYSED = 60_000
"""Specs of the index with dependencies, at most: one with more says nothing new."""


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument(
        "--specs", type=int, nargs="+", help="how many specs, instead of all sizes"
    )
    parser.add_argument("--pairs", type=int, default=7, help="measurements of each figure")
    parser.add_argument(
        "--write", action="store_true", help="write the figures, as a whole run does"
    )
    names = sorted({"index", "analyses", *_OF_PAGES})
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    arguments = parser.parse_args()
    if unknown := set(arguments.names).difference(names):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    figures = Figures()
    for specs in arguments.specs or (*SIZES, LARGEST):
        figures.specs = specs
        print(f"{specs:,} specs", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            environ = {**os.environ, "XDG_CACHE_HOME": scratch, "XDG_STATE_HOME": scratch}
            _measure(
                figures, Path(scratch), environ, arguments.pairs, set(arguments.names or names)
            )
        if arguments.write or not (arguments.specs or arguments.names):
            figures.write(Path(__file__).parent)


def _measure(
    figures: Figures, scratch: Path, environ: Mapping[str, str], pairs: int, names: set[str]
) -> None:
    """Measure one number of specs; what builds comes first, as it writes the index."""
    if figures.specs <= _ANALYSED:
        if "index" in names:
            index = spack_index.build_index(scratch / "index.json", figures.specs)
            building.measure_json(figures, index, environ, pairs)
        if "start" in names:
            index = spack_index.build_index(scratch / "started" / "index.json", figures.specs)
            building.build(str(index), environ)
            terminal.measure_start(figures, str(index), environ, pairs, ", with dependencies")
        if "analyses" in names:
            analyses.measure(figures, scratch, environ, figures.specs, pairs)
    if _OF_PAGES.isdisjoint(names):
        return
    pages = corpus.build_pages(scratch / "pages", figures.specs)
    source = str(pages)
    building.build(source, environ)
    is_browsed = figures.specs < LARGEST
    if "open" in names:
        building.measure_open(figures, pages, environ, pairs)
    if "start" in names and is_browsed:
        terminal.measure_start(figures, source, environ, pairs)
    if "start" in names and figures.specs == SIZES[0]:
        building.build("sample", environ)
        terminal.measure_start(figures, "sample", environ, pairs, ", the sample")
    if "bytes" in names and is_browsed:
        terminal.measure_echo(figures, source, environ, pairs)
        terminal.measure_bytes(figures, source, environ)
    if "find" in names:
        spec = answers.first_spec(source, environ)
        commands.measure(figures, source, spec, environ, pairs)
    if is_browsed and {"keys", "peers"} & names:
        lines = list(answers.text_lines(answers.open_catalog(source, environ)))
        if "keys" in names:
            answers.measure(figures, source, lines, environ, pairs)
        if "peers" in names:
            file = scratch / "lines.txt"
            file.write_text("\n".join(lines), encoding="utf-8")
            commands.measure_peers(figures, source, file, environ, pairs)
            terminal.measure_start_peer(figures, source, file, environ, pairs)
    if "build" in names:
        building.measure_pages(figures, pages, environ, pairs)
        if is_browsed:
            building.measure_refresh(figures, pages, environ, pairs)


if __name__ == "__main__":
    main()

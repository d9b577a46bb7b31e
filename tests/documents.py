"""Read the documents: their examples, links and headings.

A block marked `console` is what a reader types, and all that is printed on a terminal of 100
columns; a line `…` stands for any lines. Every such block is run. What `export` sets, and
`printf` writes, is there for the rest of the page. A block marked `sh` is only typed, since it
installs something, needs a network or Spack, or opens the browser.
"""

import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

if sys.version_info >= (3, 11):
    from tomllib import loads
else:
    from tomli import loads

load_toml = loads
ROOT = Path(__file__).parents[1]
PYPROJECT = load_toml((ROOT / "pyproject.toml").read_text("utf-8"))
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "packaging/**/*.md", ".github/*.md")
    for path in ROOT.glob(pattern)
)
HISTORY = ROOT / "CHANGELOG.md"
"""The document on the past, whose commands may be gone."""

_spec = importlib.util.spec_from_file_location("make_docs", ROOT / "docs" / "make_docs.py")
assert _spec is not None
assert _spec.loader is not None
make_docs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_docs)

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PUNCTUATION = set("();<>|&")


class Block(NamedTuple):
    """A block of code: its page, the number of its first line, its language, and its text."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Command(NamedTuple):
    """A command of an example, and the lines that it prints."""

    typed: str
    printed: list[str]

    @property
    def prepares(self) -> bool:
        """Whether the examples after it need it, which other processes may run."""
        return self.typed.startswith(("export ", "printf "))


class Example(NamedTuple):
    """The commands of a console block, and what prepares them: exports and files before it."""

    block: Block
    preparation: list[str]
    commands: list[Command]


def blocks(*languages: str) -> list[Block]:
    """Return the blocks of all pages in one of some languages."""
    return [
        Block(page, text.count("\n", 0, match.start()) + 2, *match.groups())
        for page in PAGES
        for text in [page.read_text("utf-8")]
        for match in _BLOCK.finditer(text)
        if match[1] in languages
    ]


def examples() -> list[Example]:
    """Return the console examples of all pages."""
    preparations: dict[Path, list[str]] = {}
    found = []
    for block in blocks("console"):
        before = preparations.setdefault(block.page, [])
        commands = _commands(block.text)
        found.append(Example(block, [*before], commands))
        before += [command.typed for command in commands if command.prepares]
    return found


def _commands(text: str) -> list[Command]:
    """Return the commands of a block; the lines of a long one begin with `> `."""
    commands: list[Command] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:], []))
        elif line.startswith("> ") and not commands[-1].printed:
            commands[-1] = Command(f"{commands[-1].typed}\n{line[2:]}", [])
        else:
            commands[-1].printed.append(line)
    return commands


def pattern_of(printed: list[str]) -> str:
    """Return the pattern of lines in which `…` stands for any lines."""
    return "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + r"\n" for line in printed
    )


def command_lines(text: str) -> Iterator[list[str]]:
    """Yield the words after `spackscope`, or `spack scope`, of each command in shell code."""
    for line in text.replace("\\\n", " ").splitlines():
        code = re.sub(r"(^|\s)#.*", "", line.removeprefix("$ "))
        lexer = shlex.shlex(code, posix=True, punctuation_chars=True)
        lexer.wordchars += "~-./*?=:@%^+!,{}$[]#"
        lexer.commenters = ""
        words = [*lexer, ";"]
        for index, word in enumerate(words):
            is_extension = word == "scope" and words[index - 1 : index] == ["spack"]
            is_complete = words[index - 1 : index] != ["xargs"]
            if is_complete and (word == "spackscope" or is_extension):
                yield _until_punctuation(words[index + 1 :])


def _until_punctuation(words: list[str]) -> list[str]:
    end = next(index for index, word in enumerate(words) if word and set(word) <= _PUNCTUATION)
    return words[:end]


def inline_commands(page: Path) -> list[str]:
    """Return the commands of a page in backquotes, with what is optional in them."""
    text = _BLOCK.sub("", page.read_text("utf-8"))
    found = re.findall(r"`((?:spackscope|spack scope) [^`]+)`", text)
    return [re.sub(r"[][…]", "", command) for command in found]


def tables(page: Path) -> list[list[list[str]]]:
    """Return the tables of a page, as rows of cells."""
    text = _BLOCK.sub("", page.read_text("utf-8"))
    found = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    return [[re.split(r"(?<!\\)\|", row) for row in table.splitlines()] for table in found]


def links(page: Path) -> list[str]:
    """Return where the links and pictures of a page go."""
    text = re.sub(r"`[^`\n]*`", "", _BLOCK.sub("", page.read_text("utf-8")))
    return re.findall(r"\]\(([^)\s]+)\)", text)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", _BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        number = sum(other.rstrip("-0123456789") == anchor for other in found)
        found.add(f"{anchor}-{number}" if anchor in found else anchor)
    return found

"""The help: all keys, the focused pane first, and the query language; below it the palette."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.app import App

from spackscope.tui.dialogs.dialog import Pick, PickDialog, with_all_words
from spackscope.tui.keymap import (
    ANYWHERE,
    FILTERS,
    HEADINGS,
    Key,
    first_key,
    found_by,
    keys_of,
    shown,
    with_keys,
    with_written_keys,
    written_key,
)
from spackscope.tui.query_reference import LANGUAGE

WORDS = {
    "source": "A cache, install tree, environment or file that you opened.",
    "sample": "The small cache that comes with spackscope.",
    "this machine": "The host on which builds should run; --host sets another.",
    "look-alikes": "Builds equal in all columns and variants: one row, such as ▸12; {fold} "
    "unfolds.",
    "run the same": "They link and run the same dependencies; only build tools differ.",
    "unlike others": "What sets a row apart from the other rows, and is in no other column.",
    "same in all": "What all rows share, and so has no column.",
    "no map": "The build has no variant or dependency named map.",
    "values": "How often each value of a column occurs in the rows; {values} goes there.",
    "run-time dependencies": "What a spec links or runs, directly or through dependencies.",
    "used by": "The specs in these sources that depend on it.",
    "needed": "A spec that is only a dependency; {dependency-only} shows or hides these.",
    "cached": "A build cache has the binary.",
    "installed": "An install tree has it.",
    "runs here": "Target, C library and os suit this machine; in a query: fits.",
    "reusable": "It runs here, and your Spack configuration allows reuse.",
    "unknown": "The source does not say.",
    "no compiler": "Nothing was compiled, or the source names no compiler.",
    "nearest": "The build that differs least from this one.",
    "because of zlib-ng": "A build exists, but it uses another zlib-ng.",
    "needed by 3 missing": "Three missing specs depend on it, so build it first.",
    "stack": "Environments that the public cache builds together.",
    "tag": "A named or dated state of the public cache.",
    "problem": "Part of a source that could not be read.",
}
"""Words on the screens that a user of Spack may not know, with their meanings.

The meanings name keys by their names in braces.
"""


def help_picks(
    panes: Sequence[str],
    answer: Mapping[str, str] = {},
    meanings: Mapping[str, str] = {},
    *,
    is_letter_typed: bool = False,
) -> list[Pick]:
    """Return all keys, forms of queries and words, the keys of `panes` first: only these work.

    If in these a letter is typed, or chooses, they have only their other keys.

    In an answer, keys by these names have other sentences, which come first; an empty one leaves
    the key out. `meanings` of its rows and heads come before the keys of an answer; those of the
    table come after all keys. The value of a pick is the name of a key to press.
    """

    def pick(left: str, sentence: str, heading: str, runs: str = "", words: str = "") -> Pick:
        is_elsewhere = not runs and heading in HEADINGS.values()
        place = f" ({heading})" if is_elsewhere else ""
        instead = f"This key works elsewhere: {heading.lower()}" if is_elsewhere else ""
        return Pick(
            runs,
            sentence,
            keys=left,
            heading=heading,
            reading=f"{left}  {sentence}{place}" if place else "",
            words=words,
            instead=instead,
        )

    explained = [
        pick(head, f"{text[:1].upper()}{text[1:]}.".replace("`", ""), "Rows and columns")
        for head, text in meanings.items()
    ]
    picks = explained if answer else []
    picks += [
        pick(written_key(shown(name)), text, "In this answer", first_key(name), found_by(name))
        for name, text in answer.items()
        if text
    ]
    picks += [
        pick(
            written_key(keys),
            key.sentence,
            HEADINGS[where],
            first_key(key.name, is_letter_typed=is_letter_typed) if where in panes else "",
            found_by(key.name),
        )
        for where in dict.fromkeys([*panes, *HEADINGS])
        for key in keys_of(where)
        if (keys := key.shown_untyped if is_letter_typed and where in panes else key.shown)
        if key.name not in answer
    ]
    picks += [] if answer else explained
    typed = first_key("query") if ANYWHERE in panes else ""
    for heading, forms in LANGUAGE.items():
        title = f"Query: {heading.lower()}"
        picks += [pick(form.written, form.sentence, title, typed) for form in forms]
    words = {word: with_written_keys(with_keys(text)) for word, text in WORDS.items()}
    return picks + [pick(word, text, "Words") for word, text in words.items()]


def open_help(
    app: App[list[str]],
    panes: Sequence[str],
    answer: Mapping[str, str] = {},
    meanings: Mapping[str, str] = {},
    *,
    is_letter_typed: bool = False,
) -> None:
    """Open the help over the screen, and press the key that is chosen in it.

    `panes` are the panes whose keys work where the help was opened, the focused pane first; the
    other arguments are those of `help_picks`.
    """

    def press(key: str | None) -> None:
        if key:
            app.simulate_key(key)

    dialog = PickDialog(
        "help",
        "key or form",
        help_picks(panes, answer, meanings, is_letter_typed=is_letter_typed),
        choose="run it",
        find_all=with_all_words,
        is_full=True,
    )
    app.push_screen(dialog, press)


_PALETTE = "app.command_palette"


def commands(panes: Sequence[str]) -> list[Pick]:
    """Return the common commands, the answers with their names, and the others.

    The value of a command is its action.
    """
    keys = [(key, where) for where in panes for key in keys_of(where)]
    # The sort keeps the order of the others.
    keys.sort(key=lambda each: 0 if each[0].is_common else 1 if each[0].is_answer else 2)
    return [
        _command(key, where)
        for key, where in keys
        if (key.keys or key.is_answer) and where != FILTERS and not key.moves
        if key.action != _PALETTE
    ]


def _command(key: Key, where: str) -> Pick:
    sentence = key.sentence.rstrip(".")
    if key.is_answer:
        sentence = f"{key.as_text.partition(' ')[0]}: {sentence}"
    pressed, written = first_key(key.name), written_key(key.shown)
    as_text = f"as text: spackscope {key.as_text}" if key.as_text else ""
    named = f"{key.name} in the configuration"
    reading = filter(None, (sentence, HEADINGS[where].lower(), named, as_text))
    action = f"app.simulate_key('{pressed}')" if pressed else f"screen.{key.textual_action}"
    return Pick(
        action,
        sentence,
        written,
        "accent",
        reading=" · ".join(reading),
        words=found_by(key.name),
    )


def open_palette(app: App[list[str]], panes: Sequence[str]) -> None:
    """Open the commands over the screen, and run the one that is chosen."""

    async def run(command: str | None) -> None:
        if command is not None:
            await app.run_action(command)

    picks = commands(panes)
    app.push_screen(PickDialog("commands", "command", picks, fills=True, choose="run it"), run)

"""All that is private in Textual and used by tests, besides what the program itself uses."""

from typing import Any

import pytest
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS as ANSI_SEQUENCES_KEYS
from textual._compositor import Compositor as Compositor
from textual._compositor import InlineUpdate as InlineUpdate
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.strip import Strip

character_to_key = _character_to_key


def strips(screen: Screen[Any]) -> list[Strip]:
    """Return the lines of a screen as they go to the terminal."""
    return screen._compositor.render_strips()


def draw(app: App[Any]) -> None:
    """Draw what has changed: Textual does so some milliseconds later, in case more comes."""
    app._check_resize()
    app.screen._on_timer_update()


def undrawn(screen: Screen[Any]) -> dict[str, object]:
    """Return what a screen has still to call, lay out and draw; it is in no queue."""
    names = "_callbacks", "_layout_required", "_dirty_widgets"
    return {name: value for name in names if (value := getattr(screen, name))}


def forward(screen: Screen[Any], event: events.Event) -> None:
    """Send an event of the mouse to the widget that it is over."""
    screen._forward_event(event)


def patch_drawing(patch: pytest.MonkeyPatch, draw_when: Any) -> None:
    """Let a function decide when a screen is drawn: of the screen, how to draw, and how later."""
    draw_now = Screen._on_timer_update

    def draw_screen(screen: Screen[Any]) -> None:
        draw_when(lambda: draw_now(screen), lambda: screen._update_timer.resume())

    patch.setattr(Screen, "_on_timer_update", draw_screen)


def leave_undrawn(patch: pytest.MonkeyPatch) -> None:
    """Draw no frame: a third of the time of a test went into frames that it does not look at."""

    def forget_dirty(compositor: Compositor, **_: object) -> None:
        compositor._dirty_regions.clear()

    patch.setattr(Compositor, "render_update", forget_dirty)


_parse_rules, _parsed = Stylesheet._parse_rules, dict[tuple[object, ...], list[RuleSet]]()


def parse_once(patch: pytest.MonkeyPatch) -> None:
    """Parse no style sheet that a browser before this one had: nothing changes it."""

    def parse(sheet: Stylesheet, *source: Any, **options: Any) -> list[RuleSet]:
        key = (*source, *options.items(), *sheet._variables.items())
        if key not in _parsed:
            _parsed[key] = _parse_rules(sheet, *source, **options)
        return _parsed[key]

    patch.setattr(Stylesheet, "_parse_rules", parse)

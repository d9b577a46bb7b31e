"""The Textual application around the browser."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from textual import events
from textual.app import App, ScreenStackError
from textual.binding import Binding
from textual.geometry import Offset
from textual.screen import Screen
from textual.widgets import Input

from spackscope.model.core.errors import Cancelled, SourceError
from spackscope.model.index.catalog import Catalog
from spackscope.model.sources.session import Session
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import JobThreads
from spackscope.tui.browser.screen import BrowserScreen, SourceChosen
from spackscope.tui.dialogs.dialog import WIDTHS, Dialog
from spackscope.tui.dialogs.help import open_help, open_palette
from spackscope.tui.keymap import ANYWHERE, FILTERS, LISTS, MOVES, SPECS, textual_keymap, use_keys
from spackscope.tui.process import crash, interpreter, signals
from spackscope.tui.process.shown_cells import ShownCells
from spackscope.tui.process.stdio import in_ascii, is_plain, supports_unicode
from spackscope.tui.process.terminal import TerminalDriver
from spackscope.tui.process.textual_internals import OpenApp, driver_of, is_laid_out
from spackscope.tui.settings import DEFAULTS, Settings, themes
from spackscope.tui.settings.checks import changed_keys

_SWITCH_INTERVAL = 0.001
"""Seconds after which a thread has to let another one run."""
_MIN_ROUNDS = 100
"""Rounds of the event loop for which it waits, however much time passes in them."""
_EARLY_ENTER = "ctrl+j"
"""The key that a terminal sends for Enter before the program has set it up."""
_ENDING = ("ctrl+c", "ctrl+q")
"""Keys that end the program, and wait for nothing."""
_QUIET_ROUNDS = 4
"""Rounds of the event loop without a message, after which a key has had its effect."""
_MAX_MOVES = 500
"""Moves that are made at once, so that Ctrl-C need not wait for a whole paste of them."""


class SpackscopeApp(OpenApp[list[str]]):
    """Browse the records of some sources; the result is the picked hashes.

    With `pick` hashes are picked, for a `purpose` that is shown.
    """

    CSS_PATH = "app.tcss"
    TITLE = "spackscope"
    BINDINGS = [Binding("ctrl+c", "interrupt", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE = True
    # Besides `:`; Textual's own Ctrl-P goes to the completion before.
    COMMAND_PALETTE_BINDING = "ctrl+backslash"

    def __init__(
        self,
        sources: Sequence[str],
        query: str = "",
        *,
        session: Session,
        settings: Settings = DEFAULTS,
        pick: bool = False,
        purpose: str = "",
        no_color: bool = False,
        note: str = "",
    ) -> None:
        # Without colours the terminal's own are left, whatever the theme.
        super().__init__(driver_class=TerminalDriver, ansi_color=True)
        self.set_reactive(App.ansi_color, None)
        if no_color and not self.no_color:
            self.leave_out_colours()
        self.register_theme(themes.OWN)
        self.theme = themes.OWN.name if self.no_color else settings.theme or themes.OWN.name
        use_keys(changed_keys(settings))
        # A screen reader reads a line across all panes in it.
        widths = WIDTHS[:1] if is_plain() else WIDTHS
        BrowserScreen.HORIZONTAL_BREAKPOINTS = Dialog.HORIZONTAL_BREAKPOINTS = widths
        self._open = partial(
            BrowserScreen, session=session, settings=settings, pick=pick, purpose=purpose
        )
        self._browser = self._open(sources, query, note=note)
        self._typed: deque[events.Key | events.Paste] = deque()
        self._is_forwarding = False
        self._shown_cells = ShownCells(str if supports_unicode() else in_ascii)
        # None until the application runs.
        self._event_loop: asyncio.AbstractEventLoop | None = None

    @property
    def cursor_position(self) -> Offset:
        """The position of the terminal's own cursor, which is not shown.

        The cursor is in the row or input with the focus: screen readers and braille lines follow
        it.
        """
        try:
            at: Offset = getattr(self.focused, "cursor_screen_offset", self._cursor_position)
        except ScreenStackError:
            return self._cursor_position
        # Textual counts a cell too many behind the last letter.
        is_behind = isinstance(self.focused, Input) and self.focused.cursor_at_end
        return at - Offset(1, 0) if is_behind else at

    @cursor_position.setter
    def cursor_position(self, position: Offset) -> None:
        # Textual sets the position in an input, even if this has lost the focus since then.
        self._cursor_position = position

    @property
    def failure(self) -> str:
        """Why there was nothing to show, or an empty text."""
        return self._browser.controllers.loading.failure

    @property
    def catalog(self) -> Catalog | None:
        """The catalog that was shown last."""
        return self._browser.host.state.catalog

    def get_default_screen(self) -> Screen[None]:
        """Return the browser."""
        return self._browser

    def on_source_chosen(self, event: SourceChosen) -> None:
        """Begin anew with other sources, and the marks; earlier sources can be opened again."""
        while isinstance(dialog := self.screen, Dialog):
            dialog.dismiss()
        self.workers.cancel_node(self._browser)
        before = [self._browser.host.sources, *self._browser.before]
        others = [each for each in before if each != event.sources]
        self._browser = self._open(
            event.sources,
            event.query,
            before=others,
            note=event.note,
            then=event.then,
            marks=self._browser.host.state.marks,
        )
        # The first screen cannot be replaced: Textual has no result for it.
        is_first = len(self.screen_stack) == 1
        (self.push_screen if is_first else self.switch_screen)(self._browser)

    def get_css_variables(self) -> dict[str, str]:
        """Return the colours of the theme, and other variables of the style sheet."""
        variables = super().get_css_variables()
        own = themes.with_own_variables(variables, is_ansi=self.current_theme.ansi)
        self.theme_variables = own
        return own

    def refresh_css(self, animate: bool = True) -> None:
        """Style all widgets anew, but not at the start, when the theme is set before any exists.

        Else all style sheets would be parsed twice at the start.
        """
        if self._browser.is_attached:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_load(self) -> None:
        """Run jobs in threads that cannot keep the program from ending."""
        self._event_loop = asyncio.get_running_loop()
        self._event_loop.set_default_executor(JobThreads())

    def on_mount(self) -> None:
        """Draw again after the program was suspended; end if a signal came before."""
        self.set_keymap(textual_keymap())
        self.app_resume_signal.subscribe(self, lambda _: self.call_later(self.action_draw_again))
        asyncio.get_running_loop().set_exception_handler(
            lambda _loop, context: self._end_after_error(context.get("exception"))
        )
        if number := signals.received():
            self.end(number)

    def on_ready(self) -> None:
        """Collect garbage from the first frame on."""
        interpreter.resume_collector()

    def end(self, number: int) -> None:
        """End the program after a signal; called in its handler."""
        if isinstance(driver := driver_of(self), TerminalDriver):
            driver.hurry()
        self._soon(self._end, 128 + number)

    def _soon(self, step: Callable[..., object], *values: object) -> None:
        """Call a function on the event loop; safe in other threads and in signal handlers."""
        if self._event_loop is not None:
            with contextlib.suppress(RuntimeError):
                self._event_loop.call_soon_threadsafe(step, *values)

    def give_back(self) -> None:
        """Restore the terminal, unless that was done."""
        if isinstance(driver := driver_of(self), TerminalDriver):
            driver.give_back()

    def on_resize(self, event: events.Resize) -> None:
        """Draw everything, even if the size is the old one again.

        Textual sees nothing to do then, but the terminal has cut off the text that it showed.
        """
        self._shown_cells.forget()
        if event.size == self.screen.size:
            self.action_draw_again()

    def changes(self, update: Any) -> Any:
        """Return the part of an update that changes the screen."""
        return update if self.is_headless else self._shown_cells.changes(update, self.console)

    async def on_event(self, event: events.Event) -> None:
        """Forward keys one at a time, each when the one before has had its effect.

        A slow line brings many keys at once, and Textual sends all of them to the widget that has
        the focus at this moment: `/quit` would quit.
        """
        if isinstance(event, events.InputEvent):
            self._browser.host.typed_at = time.monotonic()
        typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if not typed or (isinstance(event, events.Key) and event.key in _ENDING):
            await super().on_event(event)
            return
        assert isinstance(event, events.Key | events.Paste)
        if isinstance(event, events.Key) and event.key == _EARLY_ENTER:
            event.key = "enter"
        self._typed.append(event)
        self._forward()

    def simulate_key(self, key: str) -> None:
        """Press a key, as a click on its hint does; keys that were typed ahead come after it."""
        event = events.Key(key, None)
        # A key that a parent of the focused widget has sent does not reach the bindings.
        event.set_sender(self)
        self._typed.appendleft(event)
        self._forward()

    def _forward(self) -> None:
        """Forward the keys that were typed, unless that is being done."""
        if not self._is_forwarding:
            self._is_forwarding = True
            forward: Callable[[], Coroutine[None, None, None] | None] = self._forward_keys
            self.run_worker(forward, group="typed")

    async def _forward_keys(self) -> None:
        try:
            while self._typed:
                await self._wait_for_effects()
                if not await self._make_moves():
                    await super().on_event(self._typed.popleft())
        finally:
            self._is_forwarding = False

    async def _make_moves(self) -> bool:
        """Make the next moves of a cursor all at once; return whether there were any.

        Moves do not change the focus, so none has to wait for the effect of the move before.
        """
        bindings = self.screen.active_bindings
        for number in range(_MAX_MOVES):
            event = self._typed[0] if self._typed else None
            key = bindings.get(event.key) if isinstance(event, events.Key) else None
            if key is None or key.binding.action not in MOVES:
                return number > 0
            self._typed.popleft()
            await self.run_action(key.binding.action, key.node)
        return True

    def _skip_to_escape(self, screen: BrowserScreen | Dialog[Any]) -> None:
        """Let Escape after a pause come first: it was not typed ahead, and drops the keys before.

        Else Escape would wait with these keys for the very job that it is to stop.
        """
        for before, later in pairwise([*self._typed]):
            if screen.goes_back(later) and later.time - before.time > jobs.TYPED_AHEAD:
                while self._typed[0] is not later:
                    self._typed.popleft()
                return

    async def _wait_for_effects(self) -> None:
        """Wait until no message is left that could move the focus, and no job blocks the key.

        Outside of an input, panes have their sizes then: a key may move by a page.
        """
        end, rounds = time.monotonic() + jobs.KEY_PATIENCE, 0
        quiet = 0
        while quiet < _QUIET_ROUNDS and (rounds < _MIN_ROUNDS or time.monotonic() < end):
            await asyncio.sleep(0)
            rounds += 1
            pumps = [self, *self.screen.walk_children(with_self=True)]
            quiet = 0 if any(pump.message_queue_size for pump in pumps) else quiet + 1
            screen = self.screen
            if not (is_laid_out(screen) or isinstance(screen.focused, Input)):
                quiet = 0
                await asyncio.sleep(jobs.KEY_POLL)
            if isinstance(screen, BrowserScreen | Dialog) and screen.must_wait(self._typed[0]):
                quiet, rounds, end = 0, 0, time.monotonic() + jobs.KEY_PATIENCE
                await asyncio.sleep(jobs.KEY_POLL)
                self._skip_to_escape(screen)

    def panic(self, *_renderables: object) -> None:
        """End the program after an error in the thread that reads the keyboard."""
        self.fail(RuntimeError())

    def end_after(self, error: BaseException) -> None:
        """End the program after an error in a thread whose result nothing awaits."""
        if isinstance(error, Exception):
            self._soon(self.fail, error)

    def _end_after_error(self, error: BaseException | None) -> None:
        """End the program after an error that no task waits for."""
        if isinstance(error, Exception) and not isinstance(error, Cancelled):
            self.fail(error)

    def action_command_palette(self) -> None:
        """Open the commands of the focused pane."""
        screen = self.screen
        if isinstance(screen, BrowserScreen):
            panes = screen.panes.key_panes
            # In an input the commands are those of the rows.
            open_palette(self, (SPECS, LISTS, ANYWHERE) if FILTERS in panes else panes)

    def action_show_help(self) -> None:
        """Show all keys, first the keys that work now, and in an answer what they do there."""
        screen = self.screen
        if isinstance(screen, BrowserScreen):
            table = screen.host.state.table
            open_help(self, screen.panes.key_panes, table.help, table.meanings)
        elif isinstance(screen, Dialog):
            open_help(self, screen.key_panes, is_letter_typed=True)

    def action_draw_again(self) -> None:
        """Draw the whole screen over what others wrote to the terminal."""
        self._shown_cells.forget()
        self.screen.refresh(layout=True)

    def action_interrupt(self) -> None:
        """End at once, with nothing chosen."""
        self._end(130)

    def _end(self, code: int) -> None:
        """End with a code once the screen is mounted: Textual would mount no widget after that."""
        if self._browser.is_mounted:
            self.exit(None, code)
        else:
            self._browser.call_later(self._end, code)


def browse(app: SpackscopeApp) -> list[str] | None:
    """Run the browser in the terminal; return the hashes that were picked, or None.

    Raises SourceError if there was nothing to show, and SystemExit with the exit code if it was
    ended by Ctrl-C or a signal.

    >>> browse(SpackscopeApp(["sample"], "hdf5 +mpi", session=Session(os.environ), pick=True))
    """
    interpreter.limit_heaps()
    # Keys are not to wait for the threads that read and count.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    with signals.on_signal(app.end, app.give_back), crash.on_error(app.end_after):
        hashes = app.run()
    if app.unexpected is not None:
        raise app.unexpected
    signals.raise_if_received()
    if app.failure:
        raise SourceError(app.failure)
    if app.return_code:
        raise SystemExit(app.return_code)
    return hashes

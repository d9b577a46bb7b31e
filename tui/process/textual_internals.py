"""All private names of Textual that are used here, since it has no public ones for them.

No other module uses any of these, and a test names each, for the day on which Textual lacks one.
"""

from __future__ import annotations

from abc import abstractmethod
from threading import Thread
from typing import Any

from textual._compositor import ChopsUpdate as ChopsUpdate
from textual._compositor import CompositorUpdate as CompositorUpdate
from textual._compositor import LayoutUpdate as LayoutUpdate
from textual._xterm_parser import XTermParser as XTermParser
from textual.app import App, ReturnType
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import NoColor
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import WorkerFailed

from spackscope.tui.process import ExitCode


def driver_of(app: App[Any]) -> Driver | None:
    """Return the driver, which writes any sequence to the terminal."""
    return app._driver


def write_to(driver: LinuxDriver, file: object) -> None:
    """Have a driver write to another file than stderr."""
    vars(driver)["_file"] = file


def size_from_start(driver: LinuxDriver) -> None:
    """Have an application know the size of its terminal before the first event about it.

    Textual asks Rich, for which a dumb terminal has 80 columns.
    """
    vars(driver)["_size"] = driver._get_terminal_size()


def key_thread(driver: LinuxDriver) -> Thread | None:
    """Return the thread that reads keys, if it was started."""
    return driver._key_thread


def is_laid_out(screen: Screen[Any]) -> bool:
    """Check whether all widgets of a screen have the sizes that they are to have."""
    return not screen._layout_required


class OpenApp(App[ReturnType]):
    """An application that ends after an error without its data, and writes only changes."""

    def leave_out_colours(self) -> None:
        """Draw without colours, as Textual itself does by the environment."""
        self.no_color = True
        self._filters.append(NoColor())

    @abstractmethod
    def changes(self, update: Any) -> Any:
        """Return the part of an update of the screen to write."""

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        super()._display(screen, self.changes(renderable))

    @property
    def unexpected(self) -> Exception | None:
        """The error of the program itself that ended it."""
        return self._exception

    # Textual would print a traceback with all local variables, passwords among them.

    def fail(self, error: Exception) -> None:
        """End the program after an error in a message, a timer or a worker; the first counts."""
        if isinstance(error, WorkerFailed) and isinstance(error.error, Exception):
            error = error.error
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._return_code = ExitCode.UNEXPECTED
        self._close_messages_no_wait()

    _handle_exception = fail

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()


class Fitted(Widget):
    """A widget that fits its content into a new size before it is drawn.

    Textual posts the size while it draws, and all would be sent to the terminal twice. So it is if
    a newer Textual does not call `_size_updated` any more.
    """

    _is_fitted = False
    """Whether the content fits the size that is posted next."""

    @abstractmethod
    def fit(self) -> None:
        """Fit the content into the size."""

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        before = self.outer_size
        is_new = super()._size_updated(size, virtual_size, container_size, layout)
        if self.outer_size != before:
            self._is_fitted = True
            self.fit()
        return is_new

    def on_resize(self) -> None:
        """Fit the content into the size, unless that was done."""
        if not self._is_fitted:
            self.fit()
        self._is_fitted = False

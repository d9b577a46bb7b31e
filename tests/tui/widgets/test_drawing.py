"""What a text means has a look."""

from typing import get_args

from spackscope.model.report.report import Style
from spackscope.tui.widgets.drawing import STYLES


def test_the_screen_has_a_look_for_each_style() -> None:
    assert set(get_args(Style)) - STYLES.keys() == {""}

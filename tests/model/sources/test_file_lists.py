"""The time of a build is a plausible number of seconds, or unknown."""

import json

import pytest

from spackscope.model.sources.file_lists import seconds_of

LIMIT = 366 * 24 * 3600


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        *(({"total": seconds}, seconds) for seconds in (0, 1, 2.5, LIMIT)),
        *(({"total": wrong}, None) for wrong in (True, -1, LIMIT + 1, "5", None, 10**400)),
        *(({"total": 5, "cache": True}, None), ({"total": 5, "cache": False}, 5)),
        *(({}, None), ([], None), ("", None), ("{", None), ("[" * 100_000, None)),
        ('{"total": NaN}', None),
    ],
)
def test_a_time_is_a_plausible_number_of_seconds(times: object, seconds: float | None) -> None:
    text = times if isinstance(times, str) else json.dumps(times)
    assert seconds_of(text.encode()) == seconds

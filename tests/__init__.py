"""The tests, and the programs that they start, see nothing of what a user has set."""

import os
import re
import sys

_OF_THE_TESTS = ("SPACKSCOPE_HYPOTHESIS", "SPACKSCOPE_TIMING", "SPACKSCOPE_WRITE_GOLDEN")
_OF_A_USER = re.compile(
    "(AWS|CLICOLOR|FORCE_COLOR|GIT|GOOGLE|LC|NO_COLOR|REQUESTS|S3|SPACK|SPACKSCOPE|SSL|STORAGE"
    "|TEXTUAL|TMUX|XDG)(_.*)?|.*_proxy|COLUMNS|LINES|PYTHONUNBUFFERED|STY|(WAYLAND_)?DISPLAY",
    re.IGNORECASE,
)
# What a test starts has the variables that the test gives it.
for _name in filter(_OF_A_USER.fullmatch, [*os.environ] if "pytest" in sys.modules else []):
    if _name not in _OF_THE_TESTS:
        del os.environ[_name]

"""Let property tests look for new cases only where asked to, so that a run can be repeated."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("SPACKSCOPE_HYPOTHESIS", "repeatable"))

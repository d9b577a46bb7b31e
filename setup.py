"""Make the links of the README absolute, for where it is alone; pyproject.toml has the rest."""

import re
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
(url,) = re.findall('^repository = "(.*)"$', PROJECT, re.MULTILINE)
setup(
    long_description=re.sub(
        r"(!?)(\[[^]]*\]\()(?!\w+:|#)",
        lambda link: f"{link[0]}{url}/{'raw' if link[1] else 'blob'}/HEAD/",
        (ROOT / "README.md").read_text("utf-8"),
    ),
    long_description_content_type="text/markdown",
)

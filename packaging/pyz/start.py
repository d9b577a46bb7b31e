"""Start the program from where spackscope.pyz was unpacked."""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
# Before PYTHONPATH and what is installed for this Python, which is still found after it: boto3 for
# s3:// may be there. The directory of this file is not there if PYTHONSAFEPATH is set.
sys.path[:] = [f"{_here}/site", *(path for path in sys.path if path != _here)]
if "SPACKSCOPE_PYZ" in os.environ:
    os.environ["SPACKSCOPE_PYZ"] = os.path.abspath(os.environ["SPACKSCOPE_PYZ"])

from spackscope.tui.cli.main import main  # noqa: E402

sys.exit(main())

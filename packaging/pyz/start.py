"""Start the program from where spackscope.pyz was unpacked."""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
if sys.version_info < (3, 10):
    # Another Python has been put where the one was that unpacked this.
    sys.stderr.write(
        "spackscope needs Python 3.10 or newer, and {} is {}.{} by now: remove {}/python\n".format(
            sys.executable, *sys.version_info[:2], _here
        )
    )
    sys.exit(2)
# Before PYTHONPATH and what is installed for this Python, which is still found after it: boto3 for
# s3:// may be there. The directory of this file is not there if PYTHONSAFEPATH is set.
sys.path[:] = [f"{_here}/site", *(path for path in sys.path if path != _here)]
if "SPACKSCOPE_PYZ" in os.environ:
    os.environ["SPACKSCOPE_PYZ"] = os.path.abspath(os.environ["SPACKSCOPE_PYZ"])

try:
    from spackscope.tui.cli.main import main
except ModuleNotFoundError as error:
    # What removes old files from a cache may have left some.
    sys.stderr.write(f"spackscope: {error.name} is missing in {_here}: remove that directory\n")
    sys.exit(3)

sys.exit(main())

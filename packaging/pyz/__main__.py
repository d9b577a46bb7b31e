"""Start the program, or refuse a Python that cannot run it, for which this has to be valid."""

import sys

if sys.version_info < (3, 10):
    sys.stderr.write(
        "spackscope needs Python 3.10 or newer, and this is %d.%d\n" % sys.version_info[:2]
    )
    sys.exit(2)

from unpack import start

start()

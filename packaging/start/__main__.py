"""Start the program, as `python -m spackscope`."""

import sys

from spackscope.tui.cli.main import main

sys.exit(main())

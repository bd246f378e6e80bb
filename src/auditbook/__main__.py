"""``python -m auditbook`` is the command ``auditbook``."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the working folder, which Python puts there for -m

from auditbook.cli import main

if __name__ == "__main__":
    sys.exit(main())

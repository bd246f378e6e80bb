"""``python -m auditbook`` is the command ``auditbook``."""

import sys

from auditbook.cli import main

if __name__ == "__main__":
    sys.exit(main())

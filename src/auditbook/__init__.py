"""Audit the fairness of clinical prediction models, and say what each audit has shown."""

import os

# Threads that wait for work give up the core; where they spin instead, a busy machine trains many times
# slower. The libraries read this when they are imported, which is after this package.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

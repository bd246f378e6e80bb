"""Where is a model miscalibrated, and for whom: maps learned from the outcome, frozen, then tested."""

"""Draw what a study found on one pair of axes; compute nothing."""

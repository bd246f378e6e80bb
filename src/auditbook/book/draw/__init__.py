"""Draw one result on one pair of axes; compute nothing."""

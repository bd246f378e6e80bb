"""Say what a study found in sentences and tables."""

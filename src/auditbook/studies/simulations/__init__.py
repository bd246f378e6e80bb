"""What does a method do when the truth is known: seeded replicates, stored with where they came from."""

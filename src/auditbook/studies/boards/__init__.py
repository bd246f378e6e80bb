"""Does "shown" keep its word, on boards of which the truth is known?"""

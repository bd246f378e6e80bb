"""How often does a watch raise a false alarm, and how soon does it find a change?"""

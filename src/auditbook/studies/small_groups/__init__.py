"""How small may a group be: audits of known populations by the size of their smallest group?"""

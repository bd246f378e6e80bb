"""How often do printed intervals hold what they are about?"""

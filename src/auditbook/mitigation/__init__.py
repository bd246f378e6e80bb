"""What does it cost to make a failing verdict pass, and does it hold on records that nobody has seen?"""

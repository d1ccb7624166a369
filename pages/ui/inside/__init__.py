"""The page Inside: a room per tab."""

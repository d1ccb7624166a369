"""Maximum margins by dual ascent on working sets."""

"""What the learners with explicit weights, and those in a kernel, share."""

"""Runs at work: engine, executors, workers."""

"""What a run is: configuration, tasks, estimated cost."""

"""What runs as a process of its own: begun by commands, found by the channels that it writes."""

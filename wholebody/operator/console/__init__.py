"""The robot joint by joint in a terminal: what the console does."""

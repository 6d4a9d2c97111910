"""The running robot in Foxglove, live: standard messages from it, velocities and trajectories to it, its parameters."""

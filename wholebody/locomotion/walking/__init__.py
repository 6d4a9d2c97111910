"""Walking: footsteps, pendulum, swing, pattern, legs, and the walker that puts them together."""

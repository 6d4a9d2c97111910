"""Walking and balance: pendulum, footsteps, swing, preview, walking pattern, ZMP regions, stabilizers."""

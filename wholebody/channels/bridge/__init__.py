"""Channels of one machine mirrored on another, over zenoh."""

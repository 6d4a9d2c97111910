"""Motion capture: BVH files, the gait found in them, and robots that imitate it."""

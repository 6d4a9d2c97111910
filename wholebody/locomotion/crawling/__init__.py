"""On wrists and knees: gait, footholds, pattern, joints and efforts of a robot that crawls, and where it is by now."""

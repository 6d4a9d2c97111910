"""A robot as tools of others see it: its records as standard messages, on ROS topics, in logs and in Foxglove."""

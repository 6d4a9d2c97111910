"""Talking ROS 2 without ROS: its standard messages as typed data, their bytes (CDR), and a node on DDS."""

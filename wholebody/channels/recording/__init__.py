"""Messages of channels in MCAP files, with ROS 2 definitions that other tools read; recorded, and read again."""

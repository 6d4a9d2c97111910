"""Robot descriptions in files: URDF and MJCF, read and written."""

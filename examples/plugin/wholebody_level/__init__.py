"""An example of a plug-in for wholebody: a task that keeps two frames at the same height."""

"""What other processes see of a running control loop, and change in it: parameters, topics, task markers."""

"""What `wholebody bench` measures: a module here with a function `run` is a benchmark."""

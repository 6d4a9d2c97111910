"""The operator page: the robot in a browser. `source` is bundled into `static` when the project is built."""

"""The operator page: the robot in a browser. `source` is bundled into `static` when the project is built."""

PORT = 8080
SILENCE = 1.5
"""s without a word after which a page has lost control: it says one every quarter of a second (static/wire.js)."""

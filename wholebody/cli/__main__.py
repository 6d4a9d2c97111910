"""python -m wholebody.cli: the command line where `wholebody` itself is not on the path."""

from wholebody.cli import main

main()

"""python -m wholebody.processes ROLE …: one of our processes, as `wholebody process ROLE …` is."""

import sys

from wholebody.processes.main import main

main(sys.argv[1:])

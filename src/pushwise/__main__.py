"""Let `python -m pushwise` be the command `pushwise`."""

from pushwise.cli import main

main()

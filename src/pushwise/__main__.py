"""The command line: `pushwise`, or `python -m pushwise`."""

import os
import sys

from pushwise.stopping import INTERRUPTED, said_when_stopped, stoppable


def main() -> None:
    """Run the command line; Ctrl-C while it is loading ends it in one sentence, too."""
    # Threads of linear algebra wait for each other longer than matrices this small take, above all
    # where the machine does other things. This must be said before NumPy is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with stoppable():
        try:
            from pushwise.cli import main as run
        except KeyboardInterrupt:
            sys.stderr.write(f"pushwise: {said_when_stopped()}\n")
            sys.exit(INTERRUPTED)
        run()


if __name__ == "__main__":
    main()

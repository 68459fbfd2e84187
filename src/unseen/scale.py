"""``python -m unseen.scale parts/ --method rect -o vectors/``, alone or started by ``torchrun``."""

import sys

if __name__ == "__main__":
    from unseen.cli.scale import main

    sys.exit(main(sys.argv[1:]))

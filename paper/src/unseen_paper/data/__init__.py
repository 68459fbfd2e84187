"""Published graphs by name, and folders in the layouts of graph benchmarks; `unseen` finds them by entry points."""

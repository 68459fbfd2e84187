"""Where and how numbers are computed: threads, processes, disk, checkpoints, shared work. Methods meet a `Run` only."""

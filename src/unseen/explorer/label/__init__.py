"""The labelling app: a local server that saves answers, and updates what the labels miss."""

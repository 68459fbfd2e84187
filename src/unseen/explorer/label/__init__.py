"""The labelling app: a local server that saves answers, and finds anew what the labels miss."""

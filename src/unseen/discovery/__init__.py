"""What the labels miss: which nodes belong to no labelled class, how many classes those are, and what to label next."""

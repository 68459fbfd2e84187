"""Methods that need torch (`pip install "unseen[neural]"`): the RECT family and the graph neural networks."""

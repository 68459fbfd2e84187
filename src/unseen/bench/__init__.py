"""Measurements that print ratios from one run: what `unseen bench` shows, and what tests take as the truth."""

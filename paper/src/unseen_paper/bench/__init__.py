"""Measurements that print ratios from one run: what `unseen bench` shows."""

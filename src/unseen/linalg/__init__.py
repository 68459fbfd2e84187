"""Numerical building blocks: arrays in, arrays out, nothing of n x n size ever formed."""

"""RECT and RSDNE written down as in the paper, with n x n matrices: what benchmarks and tests compare with."""

"""Plain dense definitions that fast code is compared with.

Those that the paper's benchmarks measure against, too, are written down once, in ``unseen_paper.dense``.
"""

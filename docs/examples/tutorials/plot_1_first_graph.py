"""
Your first graph
================
"""

import unseen

unseen.planted_partition(30, 2, random_state=0)

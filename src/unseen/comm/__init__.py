"""Several processes that train together: who they are, sums over all of them, and the exchange of rows.

:data:`SOLO` is the one process that works alone: its sums and exchanges do nothing, and it makes no process group.
"""

from unseen.comm.group import SOLO, Comm, connect
from unseen.comm.halo import Halo, HaloMatrix, Layout, comm_of, halo_matrix

__all__ = ["SOLO", "Comm", "Halo", "HaloMatrix", "Layout", "comm_of", "connect", "halo_matrix"]

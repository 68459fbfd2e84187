"""Sweeps on a Dask cluster that is there already, through joblib's own backend for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from unseen.errors import InputError, logger, need_library

CONNECT_SECONDS = 10


@contextlib.contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Send the parallel work inside this block to the workers of a Dask scheduler; None leaves it where it is.

    Parameters
    ----------
    address : str or None
        Such as ``tcp://host:8786``, or ``tls://...`` with certificates in Dask's configuration.

    Examples
    --------
    >>> with on_cluster(None):
    ...     pass
    """
    if address is None:
        yield
        return
    client_type = need_library("distributed", "`--cluster`", "cluster").Client
    from joblib import parallel_config

    try:
        client = client_type(address, timeout=CONNECT_SECONDS, set_as_default=True)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        msg = (
            f"no Dask scheduler answered at {address!r} within {CONNECT_SECONDS} s ({reason}); "
            "start one with `dask scheduler`, or check address, port and certificates"
        )
        raise InputError(msg) from None
    with client:
        workers = client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            msg = f"the Dask scheduler at {address!r} has no workers; start some with `dask worker {address}`"
            raise InputError(msg)
        logger.info("%s: %d workers", address, len(workers))
        with parallel_config(backend="dask"):
            yield

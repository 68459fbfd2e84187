"""64-bit keys of node ids, by which an id is known while the table of all ids does not fit in memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.linalg.keyed import mixed

Keys = npt.NDArray[np.uint64]

_WORD = 8


def id_keys(ids: pa.Array) -> Keys:
    """Return one key an id; two integers never share one, two texts hardly ever do.

    Texts are read eight bytes at a time, all of them at once, so that ids of any length cost their length.

    Examples
    --------
    >>> keys = id_keys(pa.array(["a", "a long id", "a"], pa.large_string()))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    if pa.types.is_integer(ids.type):
        return mixed(np.asarray(ids.to_numpy(zero_copy_only=False)).view(np.uint64))
    ids = pa.concat_arrays([ids.cast(pa.large_string())])
    _, offset_buffer, text_buffer = ids.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    text = np.zeros(int(offsets[-1] - offsets[0]) + _WORD, dtype=np.uint8)
    if text_buffer is not None:
        text[:-_WORD] = np.frombuffer(text_buffer, dtype=np.uint8)[offsets[0] : offsets[-1]]
    words: npt.NDArray[np.uint64] = np.ndarray(len(text) - _WORD + 1, dtype="<u8", buffer=text, strides=(1,))
    begins, lengths = offsets[:-1] - offsets[0], np.diff(offsets)
    keys = mixed(lengths.astype(np.uint64))
    active = np.arange(len(ids))
    done = 0
    while len(active := active[lengths[active] > done]):
        left = np.minimum(lengths[active] - done, _WORD).astype(np.uint64)
        mask = np.uint64(2**64 - 1) >> ((np.uint64(_WORD) - left) * np.uint64(8))
        keys[active] = mixed(keys[active] ^ (words[begins[active] + done] & mask))
        done += _WORD
    return keys


def bucket_of(keys: Keys, buckets: int) -> npt.NDArray[np.int64]:
    """Return the bucket of every key; `buckets` is a power of two.

    Examples
    --------
    >>> bucket_of(np.array([0, 2**63], dtype=np.uint64), 2).tolist()
    [0, 1]
    """
    if buckets == 1:
        return np.zeros(len(keys), dtype=np.int64)
    return (keys >> np.uint64(64 - (buckets.bit_length() - 1))).astype(np.int64)

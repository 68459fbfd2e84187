"""Tensors of the neural methods: device, sparse product, layers of graph convolution and their first weights."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Cut, Run
from unseen.engine.sparse import Matrix
from unseen.errors import InputError, counted, unknown_name
from unseen.graph import Graph
from unseen.ids import Array, Keys, Singles
from unseen.methods.neural import torch
from unseen.randomness import child_seed, keyed_uniform, node_keys

FLAT = 0.25
"""Slope of PReLU on the negative side at the start, as in the paper that introduced it."""


def pick_device(device: str) -> torch.device:
    """Return the device that "auto", "cpu", "cuda", "cuda:1" or "mps" means; one that is not there is an error."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "auto":
        return torch.device("cuda" if gpus else "cpu")
    kind, colon, number = device.partition(":")
    if device not in ("cpu", "mps") and (kind != "cuda" or (colon and not number.isdecimal())):
        raise unknown_name("device", device, ("auto", "cpu", "cuda", "cuda:1", "mps"))
    missing = kind == "mps" and not torch.backends.mps.is_available()
    if missing or (kind == "cuda" and int(number or 0) >= gpus):
        found = "no GPU of Apple's" if missing else counted(gpus, "GPU") if gpus else "no GPU"
        msg = f"`device` is {device!r}, but torch finds {found} here; take 'auto' or 'cpu'"
        raise InputError(msg)
    return torch.device(device)


def to_tensor(array: Array, device: torch.device) -> torch.Tensor:
    """Return `array` in float32 on `device`; memory that may be written and is float32 already is shared."""
    return torch.from_numpy(np.require(array, np.float32, ["C", "W"])).to(device)


def differentiable(name: str, *arguments: Any) -> torch.Tensor:
    """Call a function of :mod:`unseen.methods.neural._autograd`, which cannot be imported without torch."""
    from unseen.methods.neural import _autograd

    result: torch.Tensor = getattr(_autograd, name).apply(*arguments)
    return result


def cut_rows(tensor: torch.Tensor, run: Run) -> list[Cut]:
    """Return the row blocks to work on: some thousand rows each on the processor, all at once on a GPU."""
    return run.cuts(len(tensor)) or [(0, 0)] if tensor.device.type == "cpu" else [(0, len(tensor))]


def sum_blocks(parts: Sequence[torch.Tensor], run: Run, *, precise: bool = True) -> torch.Tensor:
    """Return the sum over blocks and processes, added in order; in float64 if `precise`.

    The order leaves no trace in float32 then. Apple's GPUs lack float64.
    """
    total = parts[0].double() if precise and parts[0].device.type != "mps" else parts[0].clone()
    for part in parts[1:]:
        total += part
    return run.sum(total).float()


class SparseProduct(Matrix):
    """A constant sparse matrix on a device, in float32; its product with a tensor can be differentiated.

    On the processor, row i of A V is the sum of the rows j of V with the weights A_ij: a weighted bag of rows, for
    which torch has a vectorised, prefetching kernel, the fastest of what was measured (``docs/performance.md``). Every
    row is summed in order, so the bits do not depend on the number of threads.

    Parameters
    ----------
    matrix : Matrix
        In one piece, or spread over processes.
    device : torch.device
        Where to compute.
    transposed : SparseProduct, optional
        The transpose. Where it is not given, and the matrix is not its own, it is made with the first product that is
        differentiated: torch would do so each time, at four to ten times the price of the product.
    make_room : function, optional
        Makes zeros of a shape in which products, and gradients, are written again and again, because nothing needs the
        ones before any more: getting memory for a large product costs as much as the product.
    """

    def __init__(
        self,
        matrix: Matrix,
        device: torch.device,
        transposed: SparseProduct | None = None,
        *,
        make_room: Callable[[tuple[int, int]], Singles] | None = None,
    ) -> None:
        A = matrix.local
        whole = np.result_type(A.indices, A.indptr)  # the kernel wants one type for both
        columns, ends = (np.require(part, whole, ["C", "W"]) for part in (A.indices, A.indptr))
        values = np.require(A.data, np.float32, ["C", "W"])
        own = sp.csr_array((values, columns, ends), shape=A.shape)
        super().__init__(own, matrix.run, matrix.halo, symmetric=matrix.symmetric)
        self.device, self.make_room = device, make_room
        self._rooms: dict[str, torch.Tensor] = {}
        self._gradient = self if matrix.symmetric else transposed
        self._transpose: tuple[SparseProduct, torch.Tensor] | None = None
        self._tensors = [torch.from_numpy(array).to(device) for array in (own.indices, own.indptr, own.data)]

    def thin(self, mask: torch.Tensor, factor: float) -> SparseProduct:
        """Return the matrix with those entries where `mask` is true, times a factor; `local` is as before."""
        if self._transpose is None:
            A = self.local
            places = sp.csr_array((np.arange(A.nnz), A.indices, A.indptr), shape=A.shape).T.tocsr().data
            order = torch.from_numpy(places).to(self.device)
            self._transpose = SparseProduct(self.transposed, self.device), order
        transpose, order = self._transpose
        thinned, thinned_transpose = copy(self), copy(transpose)
        on_processor = self.device.type == "cpu"
        for part, kept in ((thinned, mask), (thinned_transpose, mask.index_select(0, order))):
            columns, ends, weights = part._tensors  # numpy finds the entries ten times as fast as torch
            entries = torch.from_numpy(np.flatnonzero(kept)) if on_processor else kept.nonzero().view(-1)
            upto = torch.nn.functional.pad(kept.cumsum(0, dtype=ends.dtype), (1, 0))
            chosen = weights.index_select(0, entries) * factor
            part._tensors = [columns.index_select(0, entries), upto[ends], chosen]
        thinned._gradient = thinned_transpose
        return thinned

    def __matmul__(self, V: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        if V.requires_grad and self._gradient is None:
            self._gradient = SparseProduct(self.transposed, self.device)
        return differentiable("Product", V, self)

    def multiply(
        self, V: torch.Tensor, *, out: torch.Tensor | None = None, add: bool = False
    ) -> torch.Tensor:
        """Return the product without a gradient, in `out` where it is given; `add` adds to it."""
        if self.device.type == "cpu":
            made = self.times(V.contiguous().numpy(), out=None if out is None else out.numpy(), add=add)
            return torch.from_numpy(made) if out is None else out
        if self.halo is not None:
            wanted = V[torch.from_numpy(self.halo.rows).to(V.device)]
            V = torch.cat([V, self.halo.layout.comm.exchange(wanted, self.halo.send, self.halo.receive)])
        columns, ends, weights = self._tensors
        if self.device.type == "mps":  # Apple's GPUs have no sparse tensors
            rows = torch.repeat_interleave(torch.arange(len(ends) - 1, device=V.device), ends.diff())
            product = torch.zeros(len(ends) - 1, V.shape[1], device=V.device)
            product.index_add_(0, rows, V.index_select(0, columns).mul_(weights[:, None]))
        else:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
                size = (len(ends) - 1, len(V))
                matrix = torch.sparse_csr_tensor(ends, columns, weights, size=size, check_invariants=False)
            product = matrix @ V
        if out is None:
            return product
        return out.add_(product) if add else out.copy_(product)

    def multiply_transposed(self, D: torch.Tensor) -> torch.Tensor:
        """Return A' D; of features whose rows are spread over processes it is added up over them."""
        assert self._gradient is not None, "made with the product"
        product = self._gradient.multiply(D, out=self.room("gradient", D.shape[1]))
        return product if self.halo else self.run.sum(product)

    def room(self, name: str, columns: int) -> torch.Tensor | None:
        """Return memory for a product of so many columns, the same for each name; None where it is not reused."""
        if self.make_room is None or self.device.type != "cpu":
            return None
        if name not in self._rooms or self._rooms[name].shape[1] != columns:
            self._rooms[name] = torch.from_numpy(self.make_room((self.shape[0], columns)))
        return self._rooms[name]

    def multiply_rows(self, V: Array, start: int, stop: int) -> Array:
        """Return some rows of the product, see :class:`Matrix`."""
        columns, ends, weights = self._tensors
        first, last = int(ends[start]), int(ends[stop])
        if first == last:
            return np.zeros((stop - start, V.shape[1]), dtype=V.dtype)
        bags: torch.Tensor = torch.nn.functional.embedding_bag(
            columns[first:last],
            torch.from_numpy(V),
            ends[start : stop + 1] - first,
            mode="sum",
            per_sample_weights=weights[first:last],
            include_last_offset=True,
        )
        return bags.numpy()


class Encoder:
    """Layers U = PReLU(Ahat H W + b), or fully connected ones.

    Parameters
    ----------
    weights : sequence of ndarray
        W, b and the slope of PReLU of each layer in turn. Float32 arrays are taken over, not copied.
    device : torch.device
        Where to compute.
    """

    def __init__(self, weights: Sequence[Array], device: torch.device) -> None:
        if len(weights) % 3:
            msg = f"{len(weights)} weights are not those of whole layers"
            raise ValueError(msg)
        self.device = device
        self.weights = [to_tensor(array, device).requires_grad_() for array in weights]

    @classmethod
    def start(cls, matrices: Sequence[Array], device: torch.device) -> Encoder:
        """Return untrained layers with these matrices W."""
        parts = [(W, np.zeros(W.shape[1]), np.full(1, FLAT)) for W in matrices]
        return cls([weight for layer in parts for weight in layer], device)

    def __call__(
        self, features: SparseProduct | torch.Tensor | None, ahat: SparseProduct | None, run: Run
    ) -> torch.Tensor:
        """Return the output of the last layer; features of None are the identity, without `ahat` layers are dense."""
        H = features
        for W, b, slope in zip(self.weights[::3], self.weights[1::3], self.weights[2::3], strict=True):
            Q = W
            if H is not None:
                Q = H @ W if isinstance(H, SparseProduct) else differentiable("TallProduct", H, W, run)
            H = differentiable("Activation", Q if ahat is None else ahat @ Q, b, slope, run)
        assert isinstance(H, torch.Tensor)
        return H

    def embed(
        self, features: SparseProduct | torch.Tensor | None, ahat: SparseProduct | None, run: Run
    ) -> Singles:
        """Return the output as an array."""
        with torch.no_grad():
            rows: Singles = self(features, ahat, run).cpu().numpy()
        return rows


def xavier(rows: int, columns: int, rng: np.random.Generator) -> Singles:
    """Return Glorot's uniform starting weights."""
    drawn: Singles = rng.random((rows, columns), dtype=np.float32)
    return (drawn * 2 - 1) * np.float32(math.sqrt(6.0 / (rows + columns)))


def keyed_numbers(keys: Keys, columns: int, bound: float, run: Run) -> Singles:
    """Return random numbers between -`bound` and `bound`, one row per key, which depends on that key alone."""
    numbers = np.empty((len(keys), columns), dtype=np.float32)

    def draw(start: int, stop: int) -> None:
        numbers[start:stop] = (keyed_uniform(keys[start:stop], columns) * 2 - 1) * bound

    run.map_blocks(draw, len(keys))
    return numbers


def input_weights(graph: Graph, columns: int | None, width: int, run: Run) -> Singles:
    """Return Glorot's weights of a first layer over `columns` features, or, if None, over one column per node.

    Weights of a node depend on its id, not on its row.
    """
    seed = child_seed(run.rng)
    if columns is not None:
        return xavier(columns, width, run.rng)
    bound = math.sqrt(6.0 / (graph.n_nodes + width))
    return keyed_numbers(node_keys(graph.node_ids, seed), width, bound, run)

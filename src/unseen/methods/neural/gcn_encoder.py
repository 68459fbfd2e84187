"""Graph convolution layers with their gradients written out: U = PReLU(Ahat H W + b), a layer at a time.

There is no automatic differentiation here: the gradients are short, and written out they reuse their memory, work
block by block in the cache, and give the same bits whatever the number of threads. Everything is float32 torch,
on the processor or on a GPU.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Cut, Run
from unseen.engine.scratch import rest
from unseen.engine.sparse import Matrix, work_cuts
from unseen.errors import InputError, counted, unknown_name
from unseen.graph import Graph
from unseen.ids import Array, Keys, Singles
from unseen.methods.neural import torch
from unseen.randomness import child_seed, keyed_uniform, node_keys

FLAT = 0.25
"""Slope of PReLU on the negative side at the start, as in the paper that introduced it."""


def pick_device(device: str) -> torch.device:
    """Return the device that "auto", "cpu", "cuda" or "cuda:1" means here; a GPU that is not there is an error."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "auto":
        return torch.device("cuda" if gpus else "cpu")
    kind, colon, number = device.partition(":")
    if device != "cpu" and (kind != "cuda" or (colon and not number.isdecimal())):
        raise unknown_name("device", device, ("auto", "cpu", "cuda", "cuda:1"))
    if kind == "cuda" and int(number or 0) >= gpus:
        found = counted(gpus, "GPU") if gpus else "no GPU"
        msg = f"`device` is {device!r}, but torch finds {found} here; take 'auto' or 'cpu'"
        raise InputError(msg)
    return torch.device(device)


def to_tensor(array: Array, device: torch.device) -> torch.Tensor:
    """Return a float32 copy of `array` on `device`."""
    return torch.from_numpy(np.array(array, dtype=np.float32, order="C")).to(device)


def csr_tensor(rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: Any) -> torch.Tensor:
    """Return a sparse tensor, without the warnings that torch has for these."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(rows, columns, values, size=tuple(shape), check_invariants=False)


def blocks_of(tensor: torch.Tensor, run: Run) -> list[Cut]:
    """Return the row blocks to work on: some thousand rows each on the processor, all at once on a GPU."""
    return [(0, len(tensor))] if tensor.is_cuda else run.cuts(len(tensor)) or [(0, 0)]


class SparseProduct(Matrix):
    """A sparse matrix on a device, in float32, to be multiplied with tensors; one that is spread, by all processes.

    On the processor, row i of A V is the sum of the rows j of V with the weights A_ij: a weighted bag of rows, for
    which torch has a vectorised, prefetching kernel, the fastest of what was measured (``docs/performance.md``).
    """

    def __init__(self, matrix: Matrix, device: torch.device) -> None:
        A = matrix.local
        parts = (A.data.astype(np.float32), A.indices.copy(), A.indptr.copy())
        super().__init__(sp.csr_array(parts, shape=A.shape), matrix.run, matrix.halo)
        indptr, indices = self.local.indptr, self.local.indices
        if indices.dtype != indptr.dtype:  # the kernel wants one type for both
            indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
        columns, ends, weights = (torch.from_numpy(part) for part in (indices, indptr, self.local.data))
        self._tensors = columns, ends, weights
        self._cuts = work_cuts(indptr)
        self.on_gpu = None
        if device.type != "cpu":
            data, indices, indptr = (torch.from_numpy(part).to(device) for part in parts)
            self.on_gpu = csr_tensor(indptr, indices, data, A.shape)

    def __call__(
        self, V: torch.Tensor, *, out: torch.Tensor | None = None, add: bool = False
    ) -> torch.Tensor:
        """Return the product with `V`, in `out` where it is given; `add` adds to it."""
        if self.on_gpu is None:
            rows = self.times(V.numpy(), out=None if out is None else out.numpy(), add=add)
            return torch.from_numpy(rows)
        if self.halo is not None:
            wanted = V[torch.from_numpy(self.halo.rows).to(V.device)]
            received = self.halo.layout.comm.exchange(wanted, self.halo.send, self.halo.receive)
            V = torch.cat([V, received])
        product = self.on_gpu @ V
        if out is None:
            return product
        return out.add_(product) if add else out.copy_(product)

    def _direct(self, V: Array) -> Array:
        product: Array = weighted_bags(*self._tensors, torch.from_numpy(V)).numpy()
        return product

    def _multiply(self, V: Array, out: Array, add: bool) -> None:
        columns, ends, weights = self._tensors
        table, result = torch.from_numpy(V), torch.from_numpy(out)

        def multiply(start: int, stop: int) -> None:
            first, last = int(ends[start]), int(ends[stop])
            rows = weighted_bags(
                columns[first:last], ends[start : stop + 1] - first, weights[first:last], table
            )
            if add:
                result[start:stop] += rows
            else:
                result[start:stop] = rows

        self.run.each(multiply, self._cuts)


class Input:
    """The features X as the first layer meets them: X W, and X' D for its gradient. Identity: X is None.

    Parameters
    ----------
    features : Matrix, ndarray or None
        X; its rows may be spread over processes.
    device : torch.device
        Where to compute.
    run : Run
        Does the work.
    transposed : Matrix, optional
        X' of a square X, whose rows and columns are spread alike.
    """

    def __init__(
        self,
        features: Matrix | Array | None,
        device: torch.device,
        run: Run,
        transposed: Matrix | None = None,
    ) -> None:
        self.run, self.square = run, transposed is not None
        self.sparse = self.transposed = self.dense = None
        if isinstance(features, np.ndarray):
            self.dense = to_tensor(features, device)
        elif features is not None:
            self.sparse = SparseProduct(features, device)
            self.transposed = SparseProduct(transposed or features.transposed(), device)

    @property
    def is_identity(self) -> bool:
        """Whether X is the identity."""
        return self.sparse is None and self.dense is None

    def times(self, W: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
        """Return X W; of identity features that is W itself."""
        if self.sparse is not None:
            return self.sparse(W, out=out)
        return W if self.dense is None else times(self.dense, W, self.run, out)

    def transposed_times(self, D: torch.Tensor) -> torch.Tensor:
        """Return X' D."""
        if self.transposed is not None:
            product = self.transposed(D)
            return product if self.square else self.run.sum(product)
        return D if self.dense is None else gram(self.dense, D, self.run)


def times(H: torch.Tensor, W: torch.Tensor, run: Run, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return H W for a tall H and a small W, block by block."""
    result = torch.empty(len(H), W.shape[1], device=H.device) if out is None else out

    def multiply(start: int, stop: int) -> None:
        torch.mm(H[start:stop], W, out=result[start:stop])

    run.each(multiply, blocks_of(H, run))
    return result


def gram(H: torch.Tensor, D: torch.Tensor, run: Run) -> torch.Tensor:
    """Return H' D of two tall matrices, of which each process has some rows."""
    return total(run.each(lambda start, stop: H[start:stop].T @ D[start:stop], blocks_of(H, run)), run)


def sum_in_order(parts: list[torch.Tensor], run: Run) -> torch.Tensor:
    """Return the sum, always added up from the first to the last, and over the processes."""
    added = parts[0].clone()
    for part in parts[1:]:
        added += part
    return run.sum(added)


def total(parts: list[torch.Tensor], run: Run) -> torch.Tensor:
    """Return the sum over blocks and processes, in float64, so that in float32 its order leaves no trace."""
    return sum_in_order([parts[0].double(), *parts[1:]], run).float()


class Layer:
    """One layer: weights W, b and the slope of PReLU, its values P before and U after PReLU, and their gradients."""

    def __init__(self, W: torch.Tensor) -> None:
        self.W = W
        self.b = torch.zeros(W.shape[1], device=W.device)
        self.slope = torch.full((1,), FLAT, device=W.device)
        self.forget()

    def room(self, name: str, rows: int, run: Run) -> torch.Tensor | None:
        """Return memory for P or Q: what is there, or a file where such arrays are to be on disk, or None."""
        held: torch.Tensor = getattr(self, name)
        if len(held):
            return held
        shape = (rows, self.W.shape[1])
        if self.W.is_cuda or not run.on_disk(shape):
            return None
        self._on_disk[name] = run.zeros(shape)
        return torch.from_numpy(self._on_disk[name])

    def rest(self, name: str) -> None:
        """Give back the memory of an array on disk until it is needed again."""
        if name in self._on_disk:
            rest(self._on_disk[name])

    def forget(self) -> None:
        """Forget everything but the weights."""
        self.P = self.U = self.Q = torch.empty(0)
        self._on_disk: dict[str, Singles] = {}

    def activate(self, run: Run) -> None:
        """Add the bias to P, and set U = PReLU(P)."""
        if self.U.shape != self.P.shape:
            self.U = torch.empty_like(self.P)
        slope = float(self.slope)

        def work(start: int, stop: int) -> None:
            p = self.P[start:stop].add_(self.b)
            torch.ops.aten.leaky_relu.out(p, slope, out=self.U[start:stop])

        run.each(work, blocks_of(self.P, run))

    def deactivate(self, dU: torch.Tensor, run: Run) -> tuple[torch.Tensor, torch.Tensor]:
        """Turn the gradient by U into that by P, in place; return the gradients of b and of the slope."""
        slope = float(self.slope)

        def work(start: int, stop: int) -> tuple[torch.Tensor, torch.Tensor]:
            p, d = self.P[start:stop], dU[start:stop]
            by_slope = torch.dot(p.clamp(max=0).view(-1), d.view(-1))
            # its name says slope of a constant, but it is the same at one that is learned
            torch.ops.aten.leaky_relu_backward.grad_input(d, p, slope, False, grad_input=d)
            return d.sum(dim=0), by_slope[None]

        parts = run.each(work, blocks_of(dU, run))
        return total([b for b, _ in parts], run), total([s for _, s in parts], run)


class Encoder:
    """Layers U = PReLU(Ahat H W + b) over given features; without `ahat` they are fully connected.

    The starting weights are taken over, not copied, where they are float32 already.

    Parameters
    ----------
    weights : sequence of ndarray
        Starting weights, one matrix a layer.
    device : torch.device
        Where to compute.
    """

    def __init__(self, weights: Sequence[Array], device: torch.device) -> None:
        self.device = device
        # at a million nodes a copy of the weights would be felt, so an array is taken over as it is
        arrays = (np.ascontiguousarray(W, dtype=np.float32) for W in weights)
        self.layers = [Layer(torch.from_numpy(W).to(device)) for W in arrays]
        self.release()

    @property
    def weights(self) -> list[torch.Tensor]:
        """All weights, layer by layer: W, b, slope."""
        return [weight for layer in self.layers for weight in (layer.W, layer.b, layer.slope)]

    def release(self) -> None:
        """Forget everything but the weights."""
        self._features: Input | None = None
        for layer in self.layers:
            layer.forget()

    def forward(self, features: Input, ahat: SparseProduct | None, run: Run) -> torch.Tensor:
        """Return the output of the last layer; the memory is used again by the next call for these features."""
        if features is not self._features:
            self.release()
            self._features = features
        H = torch.empty(0)
        for layer in self.layers:
            room = layer.Q if len(layer.Q) else None
            first = layer is self.layers[0]
            Q = features.times(layer.W, room) if first else times(H, layer.W, run, room)
            layer.Q = Q if Q is not layer.W else layer.Q
            if ahat is None:
                layer.P = Q  # nothing else needs Q, so the bias may be added to it
            else:
                layer.rest("Q")
                layer.P = ahat(Q, out=layer.room("P", ahat.shape[0], run))
            layer.activate(run)
            layer.rest("P")
            H = layer.U
        return H

    def backward(
        self, dU: torch.Tensor, features: Input, ahat: SparseProduct | None, run: Run
    ) -> list[torch.Tensor]:
        """Return the gradients of the weights, in their order; `dU`, that of the output, is overwritten."""
        gradients: list[torch.Tensor] = []
        for number in reversed(range(len(self.layers))):
            layer = self.layers[number]
            by_b, by_slope = layer.deactivate(dU, run)
            layer.rest("P")
            dQ = dU
            if ahat is not None:  # it is symmetric; Q is not needed any more and has the right shape
                # of identity features it is the gradient itself, which is read in order and may lie on disk
                held = layer.Q if len(layer.Q) else None
                dQ = layer.Q = ahat(dU, out=layer.room("Q", len(dU), run) if features.is_identity else held)
            H = self.layers[number - 1].U if number else None
            by_W = features.transposed_times(dQ) if H is None else gram(H, dQ, run)
            gradients = [by_W, by_b, by_slope, *gradients]
            if number:
                dU = times(dQ, layer.W.T.contiguous(), run)
        return gradients


def xavier(rows: int, columns: int, rng: np.random.Generator) -> Singles:
    """Return Glorot's uniform starting weights."""
    bound = math.sqrt(6.0 / (rows + columns))
    drawn: Singles = rng.random((rows, columns), dtype=np.float32)
    return (drawn * 2 - 1) * np.float32(bound)


def keyed_xavier(keys: Keys, columns: int, run: Run, rows: int | None = None) -> Singles:
    """Return the same for rows that stand for nodes: each row depends on its node's key, not on its place.

    `rows` says how many there are of which these are some.
    """
    bound = math.sqrt(6.0 / ((len(keys) if rows is None else rows) + columns))
    return keyed_numbers(keys, columns, bound, run)


def keyed_numbers(keys: Keys, columns: int, bound: float, run: Run) -> Singles:
    """Return random numbers between -`bound` and `bound`, one row per key, which depends on that key alone."""
    numbers = np.empty((len(keys), columns), dtype=np.float32)

    def draw(start: int, stop: int) -> None:
        numbers[start:stop] = (keyed_uniform(keys[start:stop], columns) * 2 - 1) * bound

    run.each(draw, len(keys))
    return numbers


def input_weights(graph: Graph, columns: int | None, width: int, run: Run) -> Singles:
    """Return starting weights of a first layer over `columns` features, or, if None, over one column per node."""
    seed = child_seed(run.rng)
    if columns is not None:
        return xavier(columns, width, run.rng)
    return keyed_xavier(node_keys(graph.node_ids, seed), width, run, graph.n_nodes)


def weighted_bags(
    columns: torch.Tensor, offsets: torch.Tensor, values: torch.Tensor, dense: torch.Tensor
) -> torch.Tensor:
    """Return a CSR matrix times a dense one on the processor; every row is summed in order."""
    if not len(values):
        return dense.new_zeros(len(offsets) - 1, dense.shape[1])
    return torch.nn.functional.embedding_bag(
        columns, dense, offsets, mode="sum", per_sample_weights=values, include_last_offset=True
    )

"""A GPU for machines that have none: tensors that call themselves cuda:0, compute on the processor, and are as strict.

Within ``with PretendGPU():`` a tensor that is made on, or moved to, a device of type cuda is remembered by its memory.
It says that it is on cuda:0, refuses `numpy()`, and cannot be combined with one that was made on the processor, as on a
real device. What is computed from it is on the device, too. Nothing is ever forgotten, so use it for small graphs only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from unseen.methods import neural

GPU = torch.device("cuda:0")
HOST_INDICES = ("__getitem__", "__setitem__", "index_put_")
"""Operations that take indices from the processor."""


class PretendGPU(TorchFunctionMode):
    """The mode; `operations` counts what was computed on the device, `copies` the arrays that were copied to it."""

    def __init__(self) -> None:
        super().__init__()
        self.on_gpu: set[int] = set()
        self.on_host: set[int] = set()
        self.remembered: list[torch.Tensor] = []
        self.operations = 0
        self.copies = 0

    def __enter__(self) -> PretendGPU:
        made = torch.from_numpy  # of all functions that make tensors, the mode is not told of this one
        self.patch = pytest.MonkeyPatch()
        for module in (torch, neural.torch):
            self.patch.setattr(module, "from_numpy", lambda array: self._remember(made(array), self.on_host))
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.patch.undo()
        super().__exit__(*error)

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = _name(func)
        inputs = list(_tensors((args, kwargs)))
        here = [tensor for tensor in inputs if self._place(tensor) in self.on_gpu]
        if name == "device.get":
            return GPU if here else func(*args, **kwargs)
        if name == "is_cuda.get":
            return bool(here)
        if name in ("numpy", "__array__") and here:
            msg = "can't convert cuda:0 device type tensor to numpy"
            raise TypeError(msg)
        if name == "cpu":
            return self._remember(args[0].clone(), self.on_host)
        if name in ("to", "cuda"):
            return self._moved(func, args, kwargs, bool(here))
        target = kwargs.get("device")
        if target is not None:
            kwargs["device"] = "cpu"
        self._check_devices(name, inputs, here)
        result = func(*args, **kwargs)
        wanted = torch.device(target).type == "cuda" if target is not None else bool(here)
        made_here = target is not None or not inputs
        self.operations += bool(here)
        for tensor in _tensors(result):
            if wanted or made_here:
                self._remember(tensor, self.on_gpu if wanted else self.on_host)
        return result

    def _moved(self, func: Any, args: tuple, kwargs: dict, is_here: bool) -> torch.Tensor:
        targets = [each for each in (*args[1:], *kwargs.values()) if isinstance(each, (torch.device, str))]
        rest = [each for each in args[1:] if not isinstance(each, (torch.device, str))]
        kwargs.pop("device", None)
        moved = func(args[0], *rest, **kwargs) if rest or kwargs else args[0]
        wants_gpu = torch.device(targets[0]).type == "cuda" if targets else is_here
        if wants_gpu == is_here and moved is args[0]:
            return moved
        self.copies += wants_gpu and not is_here and moved.dim() > 0
        return self._remember(moved.clone(), self.on_gpu if wants_gpu else self.on_host)

    def _check_devices(self, name: str, inputs: list[torch.Tensor], here: list[torch.Tensor]) -> None:
        if not here or name == "copy_":
            return
        others = [tensor for tensor in inputs if self._place(tensor) in self.on_host and tensor.dim() > 0]
        if others and not (name in HOST_INDICES and self._place(inputs[0]) in self.on_gpu):
            msg = f"Expected all tensors to be on the same device, but found cuda:0 and cpu in {name}"
            raise RuntimeError(msg)

    def _remember(self, tensor: torch.Tensor, places: set[int]) -> torch.Tensor:
        place = self._place(tensor)
        if place and place not in self.on_gpu:
            places.add(place)
            self.remembered.append(tensor)
        return tensor

    @staticmethod
    def _place(tensor: torch.Tensor) -> int:
        """Return where the memory of a tensor begins, 0 if it has none."""
        with torch._C.DisableTorchFunction():
            if tensor.layout == torch.sparse_csr:
                tensor = tensor.values()
            return tensor.untyped_storage().data_ptr() if tensor.numel() else 0


def _name(func: Any) -> str:
    """Return the name of an operation; of an attribute, with ``.get``."""
    owner = getattr(func, "__self__", None)
    if getattr(func, "__name__", "") == "__get__":
        return f"{owner.__name__}.get"
    return str(getattr(func, "__name__", func))


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _tensors(value)

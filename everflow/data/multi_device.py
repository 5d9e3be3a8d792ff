"""One dataset for several devices: its elements are dealt out to them in turn."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data import structure
from everflow.data.elements import Element, text
from everflow.data.options import Options
from everflow.data.streams import Cursor, Reading, Stream
from everflow.eager.context import executing_eagerly
from everflow.errors import failed_precondition, invalid_argument, out_of_range
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import scalar

# Stands for whatever run of the initializer came last.
LATEST = -1


class Dealer:
    """Deals the elements of a stream out to shards."""

    def __init__(self, name: str, shards: int) -> None:
        self.name = name
        self.waiting: list[collections.deque[Element]] = [collections.deque() for _ in range(shards)]
        self.lock = threading.Lock()
        self.reading: Reading | None = None
        self.cursor: Cursor | None = None
        self.turn = 0
        self.incarnation = 0

    def start(self, stream: Stream) -> int:
        """Begins at the start of a stream; returns the number of the run."""
        with self.lock:
            self.dispose()
            self.reading = Reading()
            self.cursor = stream.open(self.reading)
            self.turn = 0
            self.incarnation += 1
            for items in self.waiting:
                items.clear()
            return self.incarnation

    def next(self, shard: int, incarnation: int) -> Element | None:
        """The next element of a shard, or None at the end."""
        with self.lock:
            if self.cursor is None:
                raise failed_precondition(
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation "
                    "for this iterator before getting the next element."
                )
            if incarnation not in (LATEST, self.incarnation):
                raise invalid_argument(f"Invalid incarnation id. Provided: {incarnation}; Expected: {self.incarnation}")
            while not self.waiting[shard]:
                element = self.cursor.next()
                if element is None:
                    return None
                self.waiting[self.turn].append(element)
                self.turn = (self.turn + 1) % len(self.waiting)
            return self.waiting[shard].popleft()

    def dispose(self) -> None:
        """Gives the stream up."""
        if self.reading is not None:
            self.reading.cancel()
        self.cursor = None


def _dealer(node: Node) -> Callable[[], Dealer]:
    container, name = node.attr("container"), node.attr("shared_name") or node.name
    shards = len(node.attr("devices"))
    return lambda: node.context.resources.get(container, "dealer", name, lambda: Dealer(name, shards))


def _get_next(node: Node) -> Callable[..., Any]:
    single = len(node.outputs) == 1

    def following(dealer: Dealer, shard: Any, incarnation: Any) -> Any:
        element = dealer.next(int(shard), int(incarnation))
        if element is None:
            raise out_of_range("End of sequence")
        return element[0] if single else element

    return following


def _from_string(node: Node) -> Callable[..., Dealer]:
    def find_dealer(handle: Any) -> Dealer:
        for dealer in node.context.resources.of_kind("dealer"):
            if dealer.name.encode() == handle.item():
                return dealer
        raise invalid_argument(f"There is no multi-device iterator {handle.item()!r}.")

    return find_dealer


op("MultiDeviceIterator", kernel=_dealer, shape=scalar)
op(
    "AnonymousMultiDeviceIterator",
    kernel=lambda node: lambda: (Dealer("anonymous", len(node.attr("devices"))), None),
    shape=lambda o: [(), ()],
)
op(
    "MultiDeviceIteratorInit",
    shape=scalar,
    kernel=lambda node: lambda stream, dealer, _size: torch.tensor(dealer.start(stream), dtype=torch.int64),
)
op("MultiDeviceIteratorGetNextFromShard", kernel=_get_next, shape=lambda o: list(o.attr("output_shapes")))
op("MultiDeviceIteratorToStringHandle", kernel=lambda node: lambda dealer: text(dealer.name.encode()), shape=scalar)
op("MultiDeviceIteratorFromStringHandle", kernel=_from_string, shape=scalar)
op("DeleteMultiDeviceIterator", kernel=lambda node: lambda dealer, *_: dealer.dispose(), shape=lambda o: [])


@internal("data.ops.multi_device_iterator_ops.MultiDeviceIterator")
class MultiDeviceIterator:
    """`get_next()` gives an element for each device."""

    def __init__(
        self, dataset: Any, devices: Any, max_buffer_size: int = 1, prefetch_buffer_size: int = 1, source_device: str = "/cpu:0"
    ) -> None:
        self._devices = list(devices)
        options = Options()
        options.experimental_distribute.num_devices = len(self._devices)
        self._dataset = dataset.with_options(options)
        dataset = self._dataset._apply_options()
        self._element_spec = dataset.element_spec
        with tf.device(source_device):
            self._resource = apply("MultiDeviceIterator", devices=self._devices, shared_name="", container="", **dataset._flat_structure)
            self._incarnation = apply(
                "MultiDeviceIteratorInit", dataset._variant_tensor, self._resource, convert_to_tensor(max_buffer_size, dtypes.int64)
            )

    @property
    def initializer(self) -> Any:
        """The op that starts the iterator; eagerly it has been started."""
        return tf.no_op() if executing_eagerly() else self._incarnation.op

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._element_spec

    def _shard(self, index: int) -> Any:
        with tf.device(self._devices[index]):
            flat = apply(
                "MultiDeviceIteratorGetNextFromShard",
                self._resource,
                convert_to_tensor(index, dtypes.int32),
                convert_to_tensor(LATEST, dtypes.int64),
                output_types=structure.get_flat_tensor_types(self._element_spec),
                output_shapes=structure.get_flat_tensor_shapes(self._element_spec),
            )
        return structure.from_compatible_tensor_list(self._element_spec, flat)

    def get_next(self, device: str | None = None) -> Any:
        """An element for each device, or for one of them."""
        if device is not None:
            return self._shard(self._devices.index(device))
        return [self._shard(i) for i in range(len(self._devices))]

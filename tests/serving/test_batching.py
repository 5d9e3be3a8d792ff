"""Batches: what is joined, padded, split, refused."""

import threading

import numpy as np
import pytest

from everflow.errors import InternalError, InvalidArgumentError, UnavailableError
from everflow.serving.batching import Batcher, Parameters
from everflow.serving.inference import Run


class Plan:
    def check(self, arrays):
        for array in arrays:
            if array.dtype != np.float32:
                raise InvalidArgumentError(None, None, "Expects arg[0] to be float")


class Doubling:
    """Doubles what it is given, when it is let; remembers the batches."""

    def __init__(self):
        self.gate = threading.Event()
        self.batches = []

    def prepared(self, feeds, fetches):
        return Plan()

    def run(self, run):
        assert self.gate.wait(10)
        self.batches.append(run.arrays[0].copy())
        return [run.arrays[0] * 2]


def rows(*values):
    return Run(("x",), [np.array(values, np.float32)], ("y",))


@pytest.fixture
def servable():
    return Doubling()


def started(servable, **parameters):
    """A batcher whose only thread is busy with a first request."""
    batcher = Batcher(Parameters(num_batch_threads=1, **parameters))
    first = batcher.submit(servable, rows([0.0]))
    while batcher._queues:
        pass
    return batcher, first


def test_what_waits_is_run_together(servable):
    batcher, first = started(servable)
    futures = [batcher.submit(servable, rows([1.0], [2.0])), batcher.submit(servable, rows([3.0]))]
    servable.gate.set()
    assert [f.result(10)[0].tolist() for f in futures] == [[[2.0], [4.0]], [[6.0]]]
    assert [len(b) for b in servable.batches] == [1, 3]
    assert first.result()[0].tolist() == [[0.0]]
    batcher.stop()


def test_a_batch_has_no_more_rows_than_allowed(servable):
    batcher, _ = started(servable, max_batch_size=2)
    futures = [batcher.submit(servable, rows([float(i)])) for i in range(3)]
    servable.gate.set()
    assert [f.result(10)[0].item() for f in futures] == [0.0, 2.0, 4.0]
    assert [len(b) for b in servable.batches] == [1, 2, 1]
    with pytest.raises(InvalidArgumentError, match="Task size 3 is larger than maximum batch size 2"):
        batcher.submit(servable, rows([1.0], [2.0], [3.0]))
    batcher.stop()


def test_a_full_queue_refuses(servable):
    batcher, _ = started(servable, max_batch_size=1, max_enqueued_batches=2)
    waiting = [batcher.submit(servable, rows([1.0])) for _ in range(2)]
    with pytest.raises(UnavailableError, match="The batch scheduling queue to which this task was submitted is full"):
        batcher.submit(servable, rows([1.0]))
    servable.gate.set()
    assert [w.result(10)[0].item() for w in waiting] == [2.0, 2.0]
    batcher.stop()


def test_batches_are_filled_up_to_allowed_sizes_with_a_row(servable):
    batcher, _ = started(servable, max_batch_size=4, allowed_batch_sizes=(1, 4))
    future = batcher.submit(servable, rows([5.0], [6.0]))
    servable.gate.set()
    assert future.result(10)[0].tolist() == [[10.0], [12.0]]
    assert servable.batches[1].tolist() == [[5.0], [6.0], [5.0], [5.0]]
    batcher.stop()


def test_rows_of_different_lengths_are_padded_with_the_first_element(servable):
    batcher, _ = started(servable, pad_variable_length_inputs=True)
    futures = [batcher.submit(servable, rows([1.0])), batcher.submit(servable, rows([2.0, 3.0, 4.0]))]
    servable.gate.set()
    assert [f.result(10)[0].tolist() for f in futures] == [[[2.0, 2.0, 2.0]], [[4.0, 6.0, 8.0]]]
    batcher.stop()


def test_rows_of_different_lengths_are_not_joined_otherwise(servable):
    batcher, _ = started(servable)
    futures = [batcher.submit(servable, rows([1.0])), batcher.submit(servable, rows([2.0, 3.0]))]
    servable.gate.set()
    assert [f.result(10)[0].tolist() for f in futures] == [[[2.0]], [[4.0, 6.0]]]
    assert len(servable.batches) == 3
    batcher.stop()


def test_a_batch_that_is_not_full_waits(servable):
    servable.gate.set()
    batcher = Batcher(Parameters(num_batch_threads=1, max_batch_size=2, batch_timeout_micros=5_000_000))
    futures = [batcher.submit(servable, rows([1.0])), batcher.submit(servable, rows([2.0]))]
    assert [f.result(3)[0].item() for f in futures] == [2.0, 4.0]
    assert len(servable.batches) == 1
    batcher.stop()


@pytest.mark.parametrize("arrays, message", [
    ([], "at least one input tensor"),
    ([np.float32(1.0).reshape(())], "at least one dimension"),
    ([np.zeros((1, 1), np.float32), np.zeros((2, 1), np.float32)], "equal 0th-dimension size"),
])  # fmt: skip
def test_what_has_no_rows_is_refused(servable, arrays, message):
    batcher = Batcher(Parameters(num_batch_threads=1))
    with pytest.raises(InvalidArgumentError, match=message):
        batcher.submit(servable, Run(("x",), arrays, ("y",)))
    batcher.stop()


def test_one_mistake_spoils_no_batch(servable):
    batcher, _ = started(servable)
    with pytest.raises(InvalidArgumentError, match="Expects arg"):
        batcher.submit(servable, Run(("x",), [np.array([[1]])], ("y",)))
    good = batcher.submit(servable, rows([1.0]))
    servable.gate.set()
    assert good.result(10)[0].item() == 2.0
    batcher.stop()


def test_outputs_must_have_a_row_for_each_input():
    class Summing(Doubling):
        def run(self, run):
            assert self.gate.wait(10)
            return [run.arrays[0].sum(axis=0)]

    servable = Summing()
    batcher, _ = started(servable)
    futures = [batcher.submit(servable, rows([1.0])), batcher.submit(servable, rows([2.0]))]
    servable.gate.set()
    with pytest.raises(InternalError, match="0th dimension"):
        futures[0].result(10)
    batcher.stop()


def test_bad_parameters():
    with pytest.raises(InvalidArgumentError, match="Last entry in allowed_batch_sizes must match max_batch_size; last entry was 2"):
        Parameters(max_batch_size=4, allowed_batch_sizes=(1, 2))

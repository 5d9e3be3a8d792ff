"""The parts that pipelines are made of at run time: buffers between threads, pools, cursors that are given up or judge themselves."""

import threading
import time

import pytest

import everflow as tf
from everflow.data import parallel_ops, workers
from everflow.data.choice_ops import _IgnoreErrorsStream
from everflow.data.interleave_ops import ParallelInterleaveStream
from everflow.data.parallel_ops import ParallelMapStream, PrefetchStream, Signal, _Call
from everflow.data.source_ops import ListStream, RangeStream
from everflow.data.streams import Cursor, Reading, Stream
from everflow.errors import invalid_argument

CANCELLED = pytest.raises(tf.errors.CancelledError, match="Iterator was cancelled")
NUMBERS = ([tf.int64], [()])


def numbers(count):
    return ListStream(*NUMBERS, [(i,) for i in range(count)])


def everything(cursor):
    found = []
    while (element := cursor.next()) is not None:
        found.append(element[0])
    return found


def ended(name):
    """Whether the threads of a name end."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(60)
            assert not thread.is_alive()
    return True


def in_thread(call):
    """Starts a call; the function that is returned waits for what comes of it."""
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(workers.Outcome.of(call)))
    thread.start()

    def wait():
        thread.join(60)
        return outcome[0].get()

    return wait


def test_a_channel_hands_items_on_in_order():
    channel = workers.Channel(2)
    assert channel.has_room() and channel.put("a") and channel.has_room() and channel.put("b")
    assert [channel.get(), channel.get()] == ["a", "b"]


def test_who_waits_for_room_goes_on_when_there_is_some():
    channel = workers.Channel(1)
    channel.put("a")
    waiting = [in_thread(channel.has_room), in_thread(lambda: channel.put("b"))]
    assert channel.get() == "a"
    assert waiting[1]() is True
    assert channel.get() == "b"
    assert waiting[0]() is True


def test_a_closed_channel_takes_no_items_but_gives_those_that_are_there():
    channel = workers.Channel(1)
    channel.put("a")
    waiting = [in_thread(channel.has_room), in_thread(lambda: channel.put("b"))]
    channel.wake()
    assert [wait() for wait in waiting] == [False, False]
    assert channel.has_room() is False and channel.put("c") is False
    assert channel.get() == "a"
    with CANCELLED:
        channel.get()


def test_who_waits_for_an_item_is_told_that_none_will_come():
    channel = workers.Channel(1)
    waiting = in_thread(channel.get)
    channel.wake()
    with CANCELLED:
        waiting()


def test_results_are_made_ahead_and_errors_raised_where_they_are_wanted():
    made = iter([1, ZeroDivisionError("no"), 2, None])

    def produce():
        found = next(made)
        if isinstance(found, Exception):
            raise found
        return found

    ahead = workers.Ahead(produce, 2, "everflow-test-ahead")
    assert ahead.next() == 1
    with pytest.raises(ZeroDivisionError, match="no"):
        ahead.next()
    # The end stays the end.
    assert [ahead.next(), ahead.next(), ahead.next()] == [2, None, None]
    assert ended("everflow-test-ahead")


def test_what_was_made_ahead_and_not_taken_is_given_back():
    made, third = iter(range(100)), threading.Event()

    def produce():
        found = next(made)
        if found == 2:
            third.set()
        return found

    ahead = workers.Ahead(produce, 2, "everflow-test-ahead")
    assert ahead.next() == 0
    assert third.wait(60)
    assert [outcome.get() for outcome in ahead.stop()] == [1, 2]
    assert ended("everflow-test-ahead")


def test_a_pool_makes_calls_in_at_most_so_many_threads():
    together, names = threading.Barrier(2), []

    def call():
        together.wait(60)
        names.append(threading.current_thread())

    pool = workers.Pool(2, "everflow-test-pool")
    done = threading.Semaphore(0)
    for _ in range(4):
        pool.submit(lambda: (call(), done.release()))
    for _ in range(4):
        assert done.acquire(timeout=60)
    assert len(set(names)) == pool.started == 2
    pool.close()
    assert ended("everflow-test-pool")


def test_the_end_of_a_program_ends_all_threads():
    ahead = workers.Ahead(lambda: 1, 3, "everflow-test-ahead")
    pool = workers.Pool(1, "everflow-test-pool")
    pool.submit(lambda: None)
    workers._end_all()
    assert ended("everflow-test-ahead") and ended("everflow-test-pool")
    assert not {t.name for t in workers._running} & {"everflow-test-ahead", "everflow-test-pool"}
    del ahead


class Blocked(Stream):
    """A stream whose elements don't come before they are let through."""

    def __init__(self, gate):
        super().__init__(*NUMBERS)
        self.gate = gate

    def open(self, reading):
        return BlockedCursor(self)


class BlockedCursor(Cursor):
    def next(self):
        self.stream.gate.wait(60)
        return (1,)


def prefetched(stream):
    stream.is_seen_outside = True
    return PrefetchStream(stream, *NUMBERS, 2)


def mapped(gate):
    return ParallelMapStream(numbers(3), *NUMBERS, lambda x: (gate.wait(60), (x,))[1], True, None, 2, False, True)


def interleaved(gate, is_sloppy=False):
    return ParallelInterleaveStream(numbers(3), *NUMBERS, lambda x: (Blocked(gate),), 2, 1, is_sloppy, 2, 1)


@pytest.mark.parametrize(
    "make",
    [lambda gate: prefetched(Blocked(gate)), mapped, interleaved, lambda gate: interleaved(gate, True)],
    ids=["prefetch", "map", "interleave", "sloppy interleave"],
)
def test_who_waits_for_an_element_is_told_that_the_iterator_was_given_up(make):
    gate, reading = threading.Event(), Reading()
    cursor = make(gate).open(reading)
    waiting = in_thread(cursor.next)
    while not reading._waiting:
        time.sleep(0.001)
    reading.cancel()
    with CANCELLED:
        waiting()
    gate.set()


def test_errors_are_not_ignored_for_ever_when_the_iterator_is_given_up():
    class Failing(Cursor):
        def next(self):
            if reading.is_cancelled:
                raise invalid_argument("again")
            reading.cancel()
            raise invalid_argument("once")

    class Source(Stream):
        def open(self, reading):
            return Failing(self)

    reading = Reading()
    with CANCELLED:
        _IgnoreErrorsStream(Source(*NUMBERS), *NUMBERS).open(reading).next()


class Clock:
    """A clock that goes on by what each element takes."""

    def __init__(self, *seconds):
        self.now, self.seconds = 0.0, list(seconds)

    def perf_counter(self):
        # It is looked at before and after each element.
        self.now += 0.0 if not self.seconds else self.seconds.pop(0)
        return self.now


def each(seconds):
    return [t for s in seconds for t in (0.0, s)]


SLOW, QUICK = 2 * parallel_ops.WORTH_A_THREAD, parallel_ops.WORTH_A_THREAD / 2


@pytest.mark.parametrize(
    ("seconds", "threads_after"),
    [
        # The first pays for what is prepared once; three more decide.
        ([9.0, SLOW, SLOW, SLOW], 4),
        ([9.0, QUICK, QUICK, QUICK, QUICK], None),
        ([0.0, QUICK, QUICK, 9.0], 4),
        ([0.0, QUICK, SLOW, QUICK, SLOW, SLOW, SLOW], 5),
        # After 24 quick ones the average starts anew, so that slow ones are noticed soon.
        ([0.0, *[QUICK] * 24, SLOW, SLOW, SLOW], 28),
        ([0.0, *[QUICK] * 20, SLOW, SLOW, SLOW], None),
    ],
)
@pytest.mark.parametrize("kind", ["prefetch", "map"])
def test_threads_start_where_elements_take_long(kind, seconds, threads_after, monkeypatch):
    count = len(seconds)
    if kind == "prefetch":
        cursor = PrefetchStream(numbers(count + 1), *NUMBERS, 2).open(Reading())
    else:
        cursor = ParallelMapStream(numbers(count + 1), *NUMBERS, lambda x: (x,), True, None, 2, False, False).open(Reading())
    monkeypatch.setattr(parallel_ops, "time", Clock(*each(seconds)))
    started = None
    for i in range(count):
        assert cursor.next() == (i,)
        if started is None and (cursor.ahead if kind == "prefetch" else cursor.pool) is not None:
            started = i + 1
    assert started == threads_after
    # What was not asked for yet comes from the threads, in order.
    assert everything(cursor) == [count]


def test_a_call_that_nobody_waits_for_has_its_outcome_all_the_same():
    signal = Signal()
    call = _Call(workers.Outcome((3,)), lambda x: (x + 1,), signal)
    call.run()
    assert signal.wait_for_any([call]) is call
    assert call.outcome.get() == (4,)
    signal.wake()
    with CANCELLED:
        signal.wait_for(_Call(workers.Outcome((3,)), lambda x: (x,), signal))


@pytest.mark.parametrize("size", [1, 3, 10])
def test_skipping_stops_at_the_end(size):
    for stream in (numbers(3), RangeStream(*NUMBERS, range(3))):
        cursor = stream.open(Reading())
        assert cursor.skip(size) == min(size, 3)
        assert len(everything(cursor)) == max(0, 3 - size)
    assert numbers(3).count() == 3

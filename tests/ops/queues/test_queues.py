"""Queues: order, waiting, closing, cancelling."""

import threading

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("session")


def _in_thread(function):
    """Runs a function in a thread; `join()` gives its result or the exception that it raised."""
    found = []

    def run():
        try:
            found.append(function())
        except Exception as e:
            found.append(e)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join():
        thread.join(300)
        assert found, "still waiting"
        return found[0]

    return join


def test_first_in_first_out(session):
    queue = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], [2]])
    session.run(queue.enqueue([1, ["a", "b"]]))
    session.run(queue.enqueue_many([[2, 3], [["c", "d"], ["e", "f"]]]))
    assert session.run(queue.size()) == 3
    number, texts = session.run(queue.dequeue())
    assert number == 1 and texts.tolist() == [b"a", b"b"]
    numbers, texts = session.run(queue.dequeue_many(2))
    assert numbers.tolist() == [2, 3] and texts.tolist() == [[b"c", b"d"], [b"e", b"f"]]


def test_what_is_in_a_queue_does_not_change_with_what_was_fed(session):
    queue = tf.FIFOQueue(10, tf.float32)
    x = tf.placeholder(tf.float32, [2])
    value = np.ones(2, np.float32)
    session.run(queue.enqueue(x), {x: value})
    value[:] = 5
    assert session.run(queue.dequeue()).tolist() == [1, 1]


def test_a_dequeue_waits_for_an_element(session):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    taken, enqueue = queue.dequeue_many(2), queue.enqueue(4)
    join = _in_thread(lambda: session.run(taken))
    session.run(enqueue)
    session.run(enqueue)
    assert join().tolist() == [4, 4]


def test_an_enqueue_waits_for_room(session):
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    many, take = queue.enqueue_many([[1, 2, 3]]), queue.dequeue()
    join = _in_thread(lambda: session.run(many))
    assert [session.run(take) for _ in range(3)] == [1, 2, 3]
    assert join() is None


def test_a_step_may_bring_what_it_takes(session):
    queue = tf.FIFOQueue(1, tf.int32)
    take, bring = queue.dequeue(), queue.enqueue(7)
    assert session.run([take, bring])[0] == 7


def test_a_closed_queue_gives_what_it_has(session):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]], name="q")
    session.run(queue.enqueue_many([[1, 2, 3]]))
    session.run(queue.close())
    assert session.run(queue.is_closed())
    with pytest.raises(tf.errors.CancelledError, match="FIFOQueue '_0_q' is closed."):
        session.run(queue.enqueue(1))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"insufficient elements \(requested 4, current size 3\)"):
        session.run(queue.dequeue_many(4))
    assert session.run(queue.dequeue_up_to(4)).tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.OutOfRangeError, match=r"\(requested 1, current size 0\)"):
        session.run(queue.dequeue())


def test_closing_ends_waiting_and_gives_back_what_was_taken(session):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    three, two, close = queue.dequeue_many(3), queue.dequeue_many(2), queue.close()
    session.run(queue.enqueue_many([[1, 2]]))
    join = _in_thread(lambda: session.run(three))
    while session.run(queue.size()):
        pass
    session.run(close)
    assert isinstance(join(), tf.errors.OutOfRangeError)
    assert session.run(two).tolist() == [1, 2]


def test_pending_enqueues_are_cancelled(session):
    queue = tf.FIFOQueue(1, tf.int32)
    enqueue, close = queue.enqueue(1), queue.close(cancel_pending_enqueues=True)
    session.run(enqueue)
    waiting = session._context.resources.of_kind("queue")[0].enqueues
    join = _in_thread(lambda: session.run(enqueue))
    while not waiting:
        pass
    session.run(close)
    error = join()
    assert isinstance(error, tf.errors.CancelledError) and "Enqueue operation was cancelled" in error.message


def test_closing_the_session_ends_waiting():
    session = tf.Session()
    take = tf.FIFOQueue(1, tf.int32).dequeue()
    join = _in_thread(lambda: session.run(take))
    while not any(queue.dequeues for queue in session._context.resources.of_kind("queue")):
        pass
    session.close()
    error = join()
    assert isinstance(error, tf.errors.CancelledError) and "Dequeue operation was cancelled" in error.message


def test_a_run_waits_only_as_long_as_it_may(session):
    with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting for notification"):
        session.run(tf.FIFOQueue(1, tf.int32).dequeue(), options=tf.RunOptions(timeout_in_ms=10))


def test_random_queues_choose_as_tensorflow_does(session):
    queue = tf.RandomShuffleQueue(100, 0, tf.int32, shapes=[[]], seed=42)
    session.run(queue.enqueue_many([list(range(20))]))
    assert session.run(queue.dequeue_many(20)).tolist() == [12, 0, 13, 18, 17, 8, 10, 15, 9, 14, 6, 16, 1, 4, 5, 2, 7, 11, 19, 3]


def test_random_queues_keep_some_to_choose_from(session):
    queue = tf.RandomShuffleQueue(10, 2, tf.int32, shapes=[[]])
    session.run(queue.enqueue_many([[1, 2, 3]]))
    first = session.run(queue.dequeue())
    with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting for notification"):
        session.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=10))
    session.run(queue.close())
    assert {first, *session.run(queue.dequeue_many(2))} == {1, 2, 3}


def test_padding_queues_pad(session):
    queue = tf.PaddingFIFOQueue(10, [tf.int32, tf.string], [[None], [None]])
    session.run(queue.enqueue([[1], ["a", "b"]]))
    session.run(queue.enqueue([[2, 3], ["c"]]))
    numbers, texts = session.run(queue.dequeue_many(2))
    assert numbers.tolist() == [[1, 0], [2, 3]]
    assert texts.tolist() == [[b"a", b"b"], [b"c", b""]]


def test_the_smallest_priority_leaves_first(session):
    queue = tf.PriorityQueue(10, tf.string, [[]])
    session.run(queue.enqueue_many([tf.constant([3, 1, 2], tf.int64), ["c", "a", "b"]]))
    priorities, texts = session.run(queue.dequeue_many(3))
    assert priorities.tolist() == [1, 2, 3] and texts.tolist() == [b"a", b"b", b"c"]


def test_names_make_elements_dictionaries(session):
    queue = tf.FIFOQueue(10, [tf.int32, tf.float32], names=["i", "f"])
    session.run(queue.enqueue({"i": 1, "f": 2.0}))
    assert session.run(queue.dequeue()) == {"i": 1, "f": 2.0}
    with pytest.raises(ValueError, match="You must enqueue a dictionary in a Queue with names"):
        queue.enqueue([1, 2.0])


def test_a_queue_can_be_chosen_at_run_time(session):
    queues = [tf.FIFOQueue(10, tf.int32, shapes=[[]]) for _ in range(2)]
    which = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(which, queues)
    session.run(chosen.enqueue(5), {which: 1})
    assert session.run([queues[0].size(), queues[1].size()]) == [0, 1]


def test_shapes_are_checked(session):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[2]])
    x = tf.placeholder(tf.int32, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shape mismatch in tuple component 0. Expected \[2\], got \[3\]"):
        session.run(queue.enqueue(x), {x: [1, 2, 3]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="require the components to have specified shapes"):
        session.run(tf.FIFOQueue(10, tf.int32).dequeue_many(1))

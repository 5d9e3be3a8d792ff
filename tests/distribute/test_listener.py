import random
import threading
import time
from concurrent import futures

import pytest

import everflow as tf
from everflow.distribute.listener import Listener
from everflow.distribute.wire import Method, channel

PATH = "/test.Service/Method"


@pytest.fixture
def served():
    """Has a function answer calls; gives the method that calls it."""

    def serve(answer, path=PATH):
        listener = Listener()
        listener.add(PATH, answer)
        port = listener.bind("127.0.0.1:0")
        listener.start()
        return Method(channel(f"127.0.0.1:{port}"), path)

    return serve


def test_bytes_are_answered_with_bytes(served):
    double = served(lambda request, call: bytes(request) * 2)
    assert [double(b"ab"), double(b"")] == [b"abab", b""]
    assert double.begin(b"c").result() == b"cc"


def test_large_messages_come_and_go(served):
    big = bytes(range(256)) * 30_000
    method = served(lambda request, call: bytes(request)[::-1])
    assert method(big) == big[::-1]


@pytest.mark.parametrize(
    ("raised", "told", "text"),
    [
        (tf.errors.NotFoundError(None, None, "no such thing"), tf.errors.NotFoundError, "no such thing"),
        (ValueError("seven"), tf.errors.InvalidArgumentError, "seven"),
        (KeyError("ours"), tf.errors.InternalError, "KeyError: 'ours'"),
    ],
)
def test_what_is_raised_reaches_the_caller(served, raised, told, text):
    def fail(request, call):
        raise raised

    method = served(fail)
    with pytest.raises(told, match=text):
        method(b"")


def test_a_method_that_nobody_answers_is_unimplemented(served):
    with pytest.raises(tf.errors.UnimplementedError, match="Method not found!"):
        served(lambda request, call: b"", "/test.Service/Other")(b"")


def test_calls_may_wait_for_each_other(served):
    meeting = threading.Barrier(12)

    def wait(request, call):
        meeting.wait(60)
        return b"met"

    method = served(wait)
    with futures.ThreadPoolExecutor(12) as callers:
        for _ in range(50):
            assert list(callers.map(method, [b""] * 12)) == [b"met"] * 12


def test_who_leaves_is_not_waited_for(served):
    left = threading.Event()

    def wait(request, call):
        call.on_leave(left.set)
        left.wait(60)
        return b"late"

    with pytest.raises(tf.errors.DeadlineExceededError):
        served(wait)(b"", timeout=0.2)
    assert left.wait(60)


def test_calls_of_all_kinds_at_once_have_their_own_answers(served):
    def reverse(request, call):
        time.sleep(0.005 * (len(request) % 7 == 3))
        return bytes(request)[::-1]

    method = served(reverse)

    def call_many(seed):
        chance = random.Random(seed)
        for _ in range(60):
            sent = chance.randbytes(chance.choice([0, 10, 1_000, 2_000_000]))
            match chance.randrange(4):
                case 0:
                    method.begin(sent).cancel()
                case 1:
                    assert method.begin(sent).result() == sent[::-1]
                case 2:
                    assert method(sent) == sent[::-1]
                case 3:
                    try:
                        assert method(sent, timeout=0.004) == sent[::-1]
                    except tf.errors.DeadlineExceededError:
                        pass

    with futures.ThreadPoolExecutor(12) as callers:
        list(callers.map(call_many, range(12), timeout=60))

"""Locks whose waiting threads look again from time to time."""

import threading
import time

import pytest

from everflow.values.locks import TurnLock


def in_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join(300)
    return found[0]


def test_one_thread_holds_it_as_often_as_it_likes_and_others_wait():
    lock = TurnLock()
    with lock, lock:
        assert in_thread(lambda: lock.acquire(blocking=False)) is False
        start = time.monotonic()
        assert in_thread(lambda: lock.acquire(timeout=0.05)) is False
        assert time.monotonic() - start >= 0.05
    assert in_thread(lambda: (lock.acquire(), lock.release())[0]) is True


def test_it_is_held_by_one_thread_at_a_time():
    lock, inside, most = TurnLock(), [], []

    def work():
        for _ in range(200):
            with lock:
                inside.append(1)
                time.sleep(0)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1} and len(most) == 800


def test_a_condition_gives_it_back_as_often_as_it_was_held():
    lock = TurnLock()
    condition = threading.Condition(lock)
    seen = []

    def wait():
        with lock, condition:
            seen.append("waits")
            condition.wait(300)
            seen.append(lock._is_owned())
            lock.release()
            seen.append(lock._is_owned())
            lock.acquire()
        return lock._is_owned()

    def notify():
        while not seen:
            time.sleep(0.001)
        with condition:
            condition.notify()

    waker = threading.Thread(target=notify)
    waker.start()
    assert in_thread(wait) is False
    waker.join()
    assert seen == ["waits", True, True]


def test_what_nobody_holds_cannot_be_released():
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        TurnLock().release()

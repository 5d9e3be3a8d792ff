"""The life of versions: what is due next, and what a manager makes of it."""

import threading

import pytest

from everflow.errors import NotFoundError
from everflow.serving.manager import Manager
from everflow.serving.servables import Loader, Servable
from everflow.serving.states import State, Version, due


def version(number, state, aspired=True):
    made = Version("m", number, None)
    made.state, made.is_aspired = state, aspired
    return made


def names(actions):
    return [(v.id.version, state.name) for v, state in actions]


def test_what_is_wanted_is_loaded_the_highest_first():
    assert names(due([version(1, State.START), version(3, State.START), version(2, State.START)])) == [
        (3, "LOADING"), (2, "LOADING"), (1, "LOADING")
    ]  # fmt: skip


@pytest.mark.parametrize("successor", [State.START, State.LOADING, State.END])
def test_the_old_version_stays_until_the_new_one_serves(successor):
    assert (1, "UNLOADING") not in names(due([version(1, State.AVAILABLE, aspired=False), version(2, successor)]))


def test_the_old_version_goes_when_the_new_one_serves():
    assert names(due([version(1, State.AVAILABLE, aspired=False), version(2, State.AVAILABLE)])) == [(1, "UNLOADING")]


def test_all_go_when_nothing_is_wanted():
    assert names(due([version(1, State.AVAILABLE, aspired=False), version(2, State.START, aspired=False)])) == [
        (1, "UNLOADING"), (2, "END")
    ]  # fmt: skip


def test_a_version_cannot_leave_out_a_state():
    with pytest.raises(RuntimeError, match="cannot go from START to AVAILABLE"):
        version(1, State.START).move(State.AVAILABLE)


class Held(Servable):
    def __init__(self, number, log):
        self.number, self.log = number, log

    def close(self):
        self.log.append(("closed", self.number))


class Making(Loader):
    """Loads when it is let; fails as often as it is told."""

    def __init__(self, number, log, gate=None, failures=0):
        self.number, self.log, self.gate, self.failures = number, log, gate, failures

    def load(self):
        if self.gate is not None:
            assert self.gate.wait(10)
        self.log.append(("load", self.number))
        if self.failures:
            self.failures -= 1
            raise ValueError("broken")
        return Held(self.number, self.log)


@pytest.fixture
def log():
    return []


@pytest.fixture
def manager():
    made = Manager(retries=0, retry_seconds=0)
    yield made
    made.stop(5)


def ended(manager, number, name="m"):
    with manager._changed:
        assert manager._changed.wait_for(lambda: states(manager, name).get(number) == "END", 10)


def states(manager, name="m"):
    return {v.id.version: v.state.name for v in manager.versions(name)}


def test_a_new_version_replaces_the_old_one_without_a_gap(manager, log):
    manager.aspire("m", {1: Making(1, log)})
    manager.wait_for(["m"])
    gate = threading.Event()
    manager.aspire("m", {2: Making(2, log, gate)})
    assert states(manager) == {1: "AVAILABLE", 2: "LOADING"}
    used = manager.acquire("m")
    assert used.servable.number == 1
    gate.set()
    with manager._changed:
        assert manager._changed.wait_for(lambda: states(manager)[2] == "AVAILABLE", 10)
    assert states(manager) == {1: "UNLOADING", 2: "AVAILABLE"}
    assert ("closed", 1) not in log
    newer = manager.acquire("m")
    assert newer.servable.number == 2
    used.leave()
    ended(manager, 1)
    assert log[-1] == ("closed", 1)
    newer.leave()


def test_a_broken_version_leaves_the_old_one_serving(manager, log):
    manager.aspire("m", {1: Making(1, log)})
    manager.wait_for(["m"])
    manager.aspire("m", {2: Making(2, log, failures=9)})
    ended(manager, 2)
    assert states(manager) == {1: "AVAILABLE", 2: "END"}
    assert "ValueError: broken" in manager.versions("m")[0].error.message
    held = manager.acquire("m")
    assert held.id.version == 1
    held.leave()


def test_loads_are_retried(log):
    manager = Manager(retries=2, retry_seconds=0)
    manager.aspire("m", {1: Making(1, log, failures=2)})
    assert manager.wait_for(["m"]) == []
    assert log == [("load", 1)] * 3
    manager.stop()


def test_what_failed_for_good_is_told(manager, log):
    manager.aspire("m", {1: Making(1, log, failures=1)})
    (failed,) = manager.wait_for(["m"])
    assert str(failed.id) == "{name: m version: 1}"


def test_unloaded_versions_stay_listed_and_can_come_back(manager, log):
    manager.aspire("m", {1: Making(1, log)})
    manager.wait_for(["m"])
    manager.aspire("m", {})
    ended(manager, 1)
    with pytest.raises(NotFoundError, match=r"Servable not found for request: Latest\(m\)"):
        manager.acquire("m")
    manager.aspire("m", {1: Making(1, log)})
    assert manager.wait_for(["m"]) == []
    with pytest.raises(NotFoundError, match=r"Servable not found for request: Specific\(m, 9\)"):
        manager.acquire("m", 9)


def test_a_version_that_is_wanted_again_while_it_goes_is_loaded_anew(manager, log):
    manager.aspire("m", {1: Making(1, log)})
    manager.wait_for(["m"])
    held = manager.acquire("m")
    manager.aspire("m", {})
    manager.aspire("m", {1: Making(1, log)})
    assert states(manager) == {1: "UNLOADING"}
    held.leave()
    with manager._changed:
        assert manager._changed.wait_for(lambda: states(manager) == {1: "AVAILABLE"}, 10)
    assert log == [("load", 1), ("closed", 1), ("load", 1)]


def test_stopping_waits_for_users(log):
    manager = Manager()
    manager.aspire("m", {1: Making(1, log)})
    manager.wait_for(["m"])
    held = manager.acquire("m")
    stopping = threading.Thread(target=manager.stop)
    stopping.start()
    assert ("closed", 1) not in log
    held.leave()
    stopping.join(300)
    assert log[-1] == ("closed", 1)

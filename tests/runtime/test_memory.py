"""What steps free stays with the process."""

import gc
import mmap
import os
import platform
import subprocess
import sys
import weakref

import numpy as np
import pytest

import everflow as tf
from everflow.runtime import memory
from everflow.values.resources import Storage

resource = pytest.importorskip("resource")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to keep memory")
def test_steps_that_free_megabytes_cause_no_page_faults():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        total = tf.reduce_sum(tf.exp(tf.concat([x, x], 0)) * tf.concat([x, -x], 0))
        value = np.ones(1 << 20, np.float32)

        def faults(steps):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            for _ in range(steps):
                sess.run(total, {x: value})
            return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / steps

        faults(10)
        # Two results of eight megabytes each are 4,000 pages.
        assert faults(10) < 400


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to keep memory")
def test_results_so_large_that_they_are_mapped_are_kept_once_a_step_asks_for_them_again():
    program = """
import resource
import everflow as tf

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

x = tf.placeholder(tf.float32, [None, 64])
found = tf.reduce_sum(tf.matmul(tf.matmul(x, tf.ones([64, 64])), tf.ones([64, 1])))
session = tf.Session()
fed = session.run(tf.ones([1 << 20, 64]))
faults = []
for run in range(12):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert session.run(found, {x: fed}) > 0
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
assert faults[1] > 10000 and sorted(faults[3:])[4] < 1000, faults
before = resident()
session.close()
assert before - resident() > 50 << 20
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


@pytest.mark.parametrize(
    ("passed", "kept"),
    [
        ([memory.MAPPED + 1], False),
        ([memory.MUCH + 1], True),
        ([0, memory.MAPPED + 1], True),
        ([memory.MUCH, memory.MAPPED, memory.MAPPED], False),
    ],
)
def test_what_passes_through_a_step_is_kept_if_it_is_much_or_comes_again(passed, kept, monkeypatch):
    calls = []
    monkeypatch.setattr(memory, "keep_large_blocks", lambda: calls.append(1))
    settling = memory.Settling()
    ended = [settling.ran(size) for size in passed]
    assert bool(calls) is kept and ended == [False] * (len(passed) - 1) + [kept]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to keep memory")
def test_what_stays_has_not_passed():
    size = 64 << 20
    before = memory.passing()
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    block.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(0, size, mmap.PAGESIZE):
        block[page] = 1
    assert memory.passing() - before < size / 4
    block.close()
    assert memory.passing() - before > size * 3 / 4


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not os.path.exists("/sys/kernel/mm/transparent_hugepage"),
    reason="only where there are large pages",
)
def test_the_heap_asks_for_large_pages():
    program = """
from everflow.runtime.memory import keep_freed_memory
keep_freed_memory()
heap, flags = False, []
for line in open("/proc/self/smaps"):
    if "-" in line.split(" ")[0]:
        heap = "[heap]" in line
    elif heap and line.startswith("VmFlags"):
        flags += line.split()
assert "hg" in flags, flags
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_session_that_ends_lets_go_of_its_variables_at_once(use_resource):
    """Not when the garbage collector comes by: another session may be about to restore as much."""
    v = tf.get_variable("v", [1000], use_resource=use_resource)
    gc.disable()
    try:
        with tf.Session() as sess:
            sess.run(v.initializer)
            sess.run(v)
            (storage,) = (item for item in sess._context.resources._items.values() if isinstance(item, Storage))
            value = weakref.ref(storage.read())
        assert value() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("take", [lambda v: v[0], lambda v: tf.slice(v, [0, 0], [1, 2])])
def test_a_small_piece_of_a_variable_does_not_keep_all_of_it(take, eager):
    v = tf.Variable(tf.zeros([20000, 2]))
    piece = take(v)
    place = v._handle.value.value.data_ptr()
    v.scatter_update(tf.IndexedSlices([[1.0, 2.0]], [0]))
    assert v._handle.value.value.data_ptr() == place, "the variable was copied"
    assert piece.numpy().reshape(-1).tolist() == [0, 0]


def test_steps_that_are_not_asked_for_again_are_let_go(session, monkeypatch):
    monkeypatch.setattr("everflow.runtime.session.GENERATION", 4)
    numbers = [tf.constant(i) + 1 for i in range(20)]
    noise = tf.random_uniform([], seed=3)
    with tf.Session() as other:
        expected = [other.run(noise), other.run(noise)]
    found = [session.run(noise)]
    steps = []
    for i, number in enumerate(numbers):
        assert session.run([number, numbers[0]]) == [i + 1, 1] and session.run(numbers[0]) == 1
        steps.append(weakref.ref(session._runner(number, None).step.call))
    gc.collect()
    alive = [step() is not None for step in steps]
    assert alive[0] and alive[-1], "one that is asked for time and again stays"
    assert sum(alive) <= 8
    found.append(session.run(noise))
    assert found == expected, "what an op remembers is not its step's"


INITIALIZED = """
import everflow as tf

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

with tf.Session() as session:
    session.run(tf.constant(1.0) + 2.0)
    v = tf.get_variable("v", [2500, 4000], initializer=tf.truncated_normal_initializer())
    init, before = tf.global_variables_initializer(), resident()
    session.run(init)
    print(resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc" or not os.path.exists("/proc/self/status"), reason="only glibc leaves holes")
def test_what_a_first_run_leaves_between_what_is_in_use_is_given_back():
    run = subprocess.run([sys.executable, "-c", INITIALIZED], capture_output=True, text=True, check=True)
    # The variable has 40 megabytes, and so had the numbers that it was given.
    assert 30_000 < int(run.stdout) < 60_000

"""What steps free stays with the process."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import everflow as tf

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

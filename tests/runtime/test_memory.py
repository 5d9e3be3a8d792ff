"""What steps free stays with the process."""
import platform

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

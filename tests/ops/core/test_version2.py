"""tf.enable_v2_behavior and back, in a program of its own: it holds for the whole process."""

import subprocess
import sys

PROGRAM = """
import everflow as tf
from everflow.platform import version2_switch

tf.enable_v2_behavior()
a, b = tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
assert tf.executing_eagerly() and tf.control_flow_v2_enabled() and version2_switch.enabled()
assert (a == b).numpy().tolist() == [True, False] and (a != b).numpy().tolist() == [False, True]
assert bool(tf.Variable(1.0) == 1.0) and tf.TensorShape([4])[0] == 4 and type(tf.TensorShape([4])[0]) is int

@tf.function
def step(x, w):
    return tf.where(x == 1.0, x * w, x)

w = tf.Variable(5.0)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(step(a, w))
assert float(y) == 7.0 and float(tape.gradient(y, w)) == 1.0
assert sum(1 for x in tf.data.Dataset.range(3) if x == 1) == 1
tf.disable_tensor_equality()
assert a != b and (a == a) is True

tf.disable_v2_behavior()
assert not tf.executing_eagerly() and not version2_switch.enabled() and not tf.control_flow_v2_enabled()
x = tf.constant(1.0)
assert x == x and (x == tf.constant(1.0)) is False and {x: 1}[x] == 1
print("done")
"""


def test_all_of_it_is_switched_on_and_off():
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert found.stdout == "done\n", found.stderr

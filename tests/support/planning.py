"""What tests of passes share: steps made with some passes and with none, and what they give."""

import numpy as np
import torch

import everflow as tf
from everflow.runtime import codegen, passes
from everflow.runtime.context import Context
from everflow.runtime.plan import make_plan


def compiled(fetches, feeds, rewrites, targets=()):
    """The step of these fetches, and of ops that are run for their effects, after these passes."""
    plan = make_plan(Context(tf.get_default_graph()), fetches, targets, feeds)
    passes.run(plan, rewrites)
    return codegen.generate(plan)


def types(step):
    """The types of a step's nodes, in order."""
    return [call.node.type for call in step.calls]


def values(step, *arguments):
    """What a step gives."""
    return [np.asarray(v) for v in step.call(*[torch.tensor(a) for a in arguments])]


def same(fetches, feeds, rewrites, *arguments, tolerance=0.0):
    """The types of the nodes after these passes, which give the same values as the ops one by one."""
    rewrites = rewrites if isinstance(rewrites, tuple) else (rewrites,)
    plain, rewritten = compiled(fetches, feeds, ()), compiled(fetches, feeds, rewrites)
    for a, b in zip(values(plain, *arguments), values(rewritten, *arguments), strict=True):
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)
        assert a.dtype == b.dtype and a.shape == b.shape
    return types(rewritten)


def random(*dims):
    """Numbers that are always the same for a shape."""
    return np.random.RandomState(sum(dims)).standard_normal(dims).astype(np.float32)


def normalized(x, training=True, **arguments):
    """A batch normalization with statistics that are not those of x, unless in training."""
    channels = int(x.shape[-1])
    scale, offset = tf.constant(1.0 + 0.1 * random(channels)), tf.constant(0.1 * random(channels))
    statistics = {} if training else {"mean": tf.constant(0.1 * random(channels)), "variance": tf.constant(random(channels) ** 2 + 0.5)}
    return tf.nn.fused_batch_norm(x, scale, offset, is_training=training, **statistics, **arguments)

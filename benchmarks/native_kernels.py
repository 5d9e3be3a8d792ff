"""Times each native kernel against the torch calls that it stands for, in the sizes of the benchmark's cases.

    python benchmarks/native_kernels.py [--cpu native,avx2] [--threads 1] [--seconds 1]

A ratio above 1 says that ours is faster. The two take turns, and the best time of each counts.
"""

import argparse
import subprocess
import sys
import time

from processors import environment, kinds, processor_name


def pairs():
    """By name: our kernel and torch's, each a function of nothing."""
    import numpy as np
    import torch
    from torch.nn import functional as F

    import everflow as tf
    from everflow.runtime import codegen, passes
    from everflow.runtime.context import Context
    from everflow.runtime.plan import make_plan

    def ours(build, *arrays):
        """What a session runs for this graph, without the session."""
        with tf.Graph().as_default() as graph:
            feeds = [tf.placeholder(tf.float32, array.shape) for array in arrays]
            fetches = build(*feeds)
            plan = make_plan(Context(graph), fetches if isinstance(fetches, list) else [fetches], [], feeds)
        passes.run(plan)
        step, values = codegen.generate(plan), [torch.from_numpy(array) for array in arrays]
        return lambda: step.call(*values)

    def random(*dims):
        return np.random.RandomState(len(dims)).randn(*dims).astype(np.float32)

    def pictures(array):
        return torch.from_numpy(array).permute(0, 3, 1, 2)

    def filters(array):
        return torch.from_numpy(array).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)

    for side, channels in ((32, 16), (16, 128), (8, 256)):
        x, dy, scale, offset = random(32, side, side, channels), random(32, side, side, channels), random(channels), random(channels)
        name = f"{side} x {side} x {channels}"
        tx, tdy, ts, to = pictures(x), pictures(dy), torch.from_numpy(scale), torch.from_numpy(offset)

        def normalized(x, s, o):
            return tf.nn.relu(tf.nn.fused_batch_norm(x, s, o)[0])

        yield (
            f"batch norm, relu        {name}",
            ours(normalized, x, scale, offset),
            lambda x=tx, s=ts, o=to: torch.native_batch_norm(x, s, o, None, None, True, 0.0, 1e-3)[0].relu_(),
        )

        def gradients(x, s, o, dy):
            return tf.gradients(normalized(x, s, o), [x, s, o], dy)

        def by_torch(x=tx, s=ts, o=to, dy=tdy):
            y, mean, inverse = torch.native_batch_norm(x, s, o, None, None, True, 0.0, 1e-3)
            y.relu_()
            return torch.ops.aten.native_batch_norm_backward(
                torch.ops.aten.threshold_backward(dy, y, 0), x, s, None, None, mean, inverse, True, 1e-3, [True] * 3
            )

        yield f"batch norm, relu, back  {name}", ours(gradients, x, scale, offset, dy), by_torch

    for side, depth, channels, stride in ((32, 16, 64, 1), (32, 64, 16, 1), (32, 64, 128, 2), (16, 128, 32, 1), (8, 64, 128, 1)):
        x, filter = random(32, side, side, depth), random(1, 1, depth, channels)
        dy = random(32, side // stride, side // stride, channels)
        tx, tf_, tdy = pictures(x), filters(filter), pictures(dy)
        strides = [1, stride, stride, 1]
        name = f"{side} x {side} x {depth} to {channels}" + (f" / {stride}" if stride > 1 else "")
        yield (
            f"1 x 1 convolution       {name}",
            ours(lambda x, f, s=strides: tf.nn.conv2d(x, f, s, "SAME"), x, filter),
            lambda x=tx, f=tf_, s=stride: F.conv2d(x, f, stride=s),
        )
        for index, what in ((0, "input"), (1, "filter")):

            def back(dy, x, f, s=strides, index=index):
                return tf.gradients(tf.nn.conv2d(x, f, s, "SAME"), [x, f][index], dy)

            mask = [index == 0, index == 1, False]
            yield (
                f"  gradient of its {what.ljust(6)}  {name}",
                ours(back, dy, x, filter),
                lambda dy=tdy, x=tx, f=tf_, s=stride, m=mask: torch.ops.aten.convolution_backward(
                    dy, x, f, None, [s, s], [0, 0], [1, 1], False, [0, 0], 1, m
                ),
            )

    for batch, side, depth, size, channels in ((64, 14, 32, 5, 64), (32, 32, 32, 3, 32), (32, 16, 64, 3, 64), (32, 8, 128, 3, 128)):
        x, filter, dy = random(batch, side, side, depth), random(size, size, depth, channels), random(batch, side, side, channels)
        tx, tf_, tdy, pad = pictures(x), filters(filter), pictures(dy), [size // 2, size // 2]
        name = f"{side} x {side} x {depth}, {size} x {size} to {channels}"
        yield (
            f"convolution             {name}",
            ours(lambda x, f: tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"), x, filter),
            lambda x=tx, f=tf_, p=pad: F.conv2d(x, f, padding=p),
        )
        for index, what in ((0, "input"), (1, "filter")):

            def gradient(dy, x, f, index=index):
                return tf.gradients(tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"), [x, f][index], dy)

            mask = [index == 0, index == 1, False]
            yield (
                f"  gradient of its {what.ljust(6)}  {name}",
                ours(gradient, dy, x, filter),
                lambda dy=tdy, x=tx, f=tf_, p=pad, m=mask: torch.ops.aten.convolution_backward(
                    dy, x, f, None, [1, 1], p, [1, 1], False, [0, 0], 1, m
                ),
            )

    single = (64, 3136, 1024), (64, 784, 512), (1024, 768, 3072), (128, 128, 128), (100, 784, 10)
    for dims in (*single, (96, 128, 64, 128), (128, 32, 32, 32)):
        *pairs, height, depth, columns = dims
        for flip_a, flip_b in ((False, False), (False, True), (True, False)):
            a = random(*pairs, *((depth, height) if flip_a else (height, depth)))
            b = random(*pairs, *((columns, depth) if flip_b else (depth, columns)))
            ta, tb = torch.from_numpy(a), torch.from_numpy(b)
            yield (
                f"product{'s' if pairs else ''}{', left turned' if flip_a else ', right turned' if flip_b else ''}".ljust(24)
                + " x ".join(map(str, dims)),
                ours(lambda a, b, left=flip_a, right=flip_b: tf.matmul(a, b, transpose_a=left, transpose_b=right), a, b),
                lambda a=ta.mT if flip_a else ta, b=tb.mT if flip_b else tb: torch.matmul(a, b),
            )

    for side, channels in ((28, 32), (14, 64)):
        x, dy = random(64, side, side, channels), random(64, side // 2, side // 2, channels)

        def halved(x, dy):
            y = tf.nn.max_pool(tf.nn.relu(x), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
            return [y, *tf.gradients(y, x, dy)]

        def halved_by_torch(x=pictures(x), dy=pictures(dy)):
            rectified = torch.relu(x)
            y, places = F.max_pool2d(rectified, 2, return_indices=True)
            dx = torch.ops.aten.max_pool2d_with_indices_backward(dy, rectified, [2, 2], [2, 2], [0, 0], [1, 1], False, places)
            return y, torch.ops.aten.threshold_backward(dx, rectified, 0)

        yield f"relu, maxima, and back  {side} x {side} x {channels}", ours(halved, x, dy), halved_by_torch

    for side, depth, size, channels in ((28, 1, 5, 32), (32, 3, 5, 64), (32, 3, 3, 16)):
        x, filter, bias = random(64, side, side, depth), random(size, size, depth, channels), random(channels)

        def layer(x, f, b):
            y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"), b))
            return tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")

        yield (
            f"first layer             {side} x {side} x {depth}, {size} x {size} to {channels}",
            ours(layer, x, filter, bias),
            lambda x=pictures(x), f=filters(filter), b=torch.from_numpy(bias), p=size // 2: F.max_pool2d(
                F.conv2d(x, f, b, padding=p), 2
            ).relu_(),
        )

    for rows, columns in ((32, 64), (128, 128), (256, 256)):
        gates, state = random(rows, 4 * columns), random(rows, columns)

        def cell(gates, state):
            i, j, f, o = tf.split(gates, 4, axis=1)
            new = state * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            return tf.tanh(new) * tf.sigmoid(o)

        def cell_by_torch(gates=torch.from_numpy(gates), state=torch.from_numpy(state)):
            i, j, f, o = gates.chunk(4, 1)
            new = (state * (f + 1.0).sigmoid_()).add_(i.sigmoid().mul_(j.tanh()))
            return new.tanh_().mul_(o.sigmoid())

        yield f"element-wise chain      {rows} x {columns}", ours(cell, gates, state), cell_by_torch


def fastest(functions, seconds, least=20):
    best = [float("inf")] * len(functions)
    end, turns = time.perf_counter() + seconds, 0
    while turns < least or time.perf_counter() < end:
        for i, function in enumerate(functions):
            t = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - t)
        turns += 1
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", help="kinds of processors, one after the other")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--seconds", default="1", help="how long each pair is timed")
    args = parser.parse_args()
    if args.cpu is not None:
        for kind in kinds(args.cpu):
            again = [sys.executable, __file__, "--threads", args.threads, "--seconds", args.seconds]
            subprocess.run(again, env=environment(kind), check=True)
        return
    import torch

    from everflow import _native

    torch.set_num_threads(int(args.threads))
    print(f"{processor_name()}: our kernels for {_native.processor()}, torch's for {torch.backends.cpu.get_cpu_capability()}")
    print("kernel".ljust(52) + "ours".rjust(12) + "torch".rjust(12) + "torch/ours".rjust(12))
    for name, *functions in pairs():
        ours, theirs = fastest(functions, float(args.seconds))
        print(name.ljust(52) + f"{ours * 1e6:9.1f} µs{theirs * 1e6:9.1f} µs{theirs / ours:12.2f}", flush=True)


if __name__ == "__main__":
    main()

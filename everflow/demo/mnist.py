"""A convolutional network that learns to read handwritten digits: plain TensorFlow 1, run by `everflow demo`."""

import argparse
import os
import sys
import time

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data


def weights(shape, name):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1), name=name)


def network(images, keep_prob):
    """Two convolutions with pooling, a hidden layer with dropout, and ten logits."""
    x = tf.reshape(images, [-1, 28, 28, 1])
    with tf.name_scope("conv1"):
        x = tf.nn.relu(tf.nn.conv2d(x, weights([3, 3, 1, 32], "kernel"), [1, 1, 1, 1], "SAME") + tf.Variable(tf.constant(0.1, shape=[32])))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    with tf.name_scope("conv2"):
        x = tf.nn.relu(tf.nn.conv2d(x, weights([3, 3, 32, 64], "kernel"), [1, 1, 1, 1], "SAME") + tf.Variable(tf.constant(0.1, shape=[64])))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    with tf.name_scope("hidden"):
        x = tf.reshape(x, [-1, 7 * 7 * 64])
        x = tf.nn.relu(tf.matmul(x, weights([7 * 7 * 64, 512], "kernel")) + tf.Variable(tf.constant(0.1, shape=[512])))
        x = tf.nn.dropout(x, keep_prob)
    with tf.name_scope("logits"):
        return tf.matmul(x, weights([512, 10], "kernel")) + tf.Variable(tf.zeros([10]))


def progress(step, steps, loss, rate):
    width = 30
    done = width * step // steps
    text = "[%s%s] step %d/%d  loss %.4f  %.1f steps/s" % ("#" * done, "." * (width - done), step, steps, loss, rate)
    if sys.stdout.isatty():
        print("\r" + text, end="" if step < steps else "\n", flush=True)
    elif step % 100 == 0:
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--data", default=os.path.join(here, "digits"), help="a folder of MNIST files")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=100)
    args = parser.parse_args()

    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.set_random_seed(3)
    np.random.seed(3)
    digits = input_data.read_data_sets(args.data, one_hot=False, validation_size=0)

    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
    logits = network(images, keep_prob)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(2e-3, global_step, args.steps, 0.05)
    train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        start = time.time()
        for step in range(1, args.steps + 1):
            x, y = digits.train.next_batch(args.batch)
            _, value = sess.run([train, loss], feed_dict={images: x, labels: y, keep_prob: 0.5})
            progress(step, args.steps, value, step / (time.time() - start))
        print("test accuracy: %.2f %%" % (100 * sess.run(accuracy, feed_dict={images: digits.test.images, labels: digits.test.labels})))


if __name__ == "__main__":
    main()

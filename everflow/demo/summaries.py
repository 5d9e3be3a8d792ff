"""Logs of a training run for TensorBoard: numbers, distributions, images, texts, the graph and an embedding.

everflow run -m everflow.demo.summaries --logs /tmp/digits
tensorboard --logdir /tmp/digits
"""

import argparse
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib.tensorboard.plugins import projector
from tensorflow.examples.tutorials.mnist import input_data

HERE = os.path.dirname(os.path.abspath(__file__))


def network(images):
    """Two convolutions, a layer of 64 features, ten logits."""
    x = tf.reshape(images, [-1, 28, 28, 1])
    x = tf.layers.conv2d(x, 8, 5, strides=2, activation=tf.nn.relu, name="conv1")
    x = tf.layers.conv2d(x, 16, 3, strides=2, activation=tf.nn.relu, name="conv2")
    features = tf.layers.dense(tf.layers.flatten(x), 64, activation=tf.nn.relu, name="features")
    return features, tf.layers.dense(features, 10, name="logits")


def show_embedding(writer, features, labels):
    """Writes points and their labels as tables, and tells the projector of them."""
    folder = writer.get_logdir()
    np.savetxt(os.path.join(folder, "features.tsv"), features, "%.4f", delimiter="\t")
    np.savetxt(os.path.join(folder, "labels.tsv"), labels, "%d")
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name="features", tensor_path="features.tsv", metadata_path="labels.tsv")
    projector.visualize_embeddings(writer, config)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", default="logs", help="the folder to write to")
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()

    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.set_random_seed(5)
    np.random.seed(5)
    digits = input_data.read_data_sets(os.path.join(HERE, "digits"), one_hot=False, validation_size=0)

    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    features, logits = network(images)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    global_step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(2e-3).minimize(loss, global_step=global_step)

    tf.summary.scalar("train/loss", loss)
    tf.summary.scalar("train/accuracy", accuracy)
    tf.summary.image("digits", tf.reshape(images, [-1, 28, 28, 1]), max_outputs=4)
    for variable in tf.trainable_variables():
        tf.summary.histogram("weights/" + variable.op.name, variable)
    summaries = tf.summary.merge_all()
    about = tf.summary.text("about", tf.constant("A **convolutional network** that reads digits."), collections=[])

    with tf.Session() as sess, tf.summary.FileWriter(args.logs, sess.graph) as writer:
        sess.run(tf.global_variables_initializer())
        writer.add_summary(sess.run(about), 0)
        for step in range(args.steps):
            x, y = digits.train.next_batch(100)
            run_metadata = tf.RunMetadata()
            if step % 10 == 0:
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) if step == 100 else None
                _, summary = sess.run([train, summaries], {images: x, labels: y}, options=options, run_metadata=run_metadata)
                writer.add_summary(summary, step)
                if options is not None:
                    writer.add_run_metadata(run_metadata, "step 100", step)
            else:
                sess.run(train, {images: x, labels: y})
        show_embedding(writer, sess.run(features, {images: digits.test.images[:200]}), digits.test.labels[:200])
        print("accuracy %.2f" % sess.run(accuracy, {images: digits.test.images, labels: digits.test.labels}))
        print("now: tensorboard --logdir %s" % args.logs)


if __name__ == "__main__":
    main()

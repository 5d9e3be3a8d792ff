"""Checkpoints and graphs as files: what it takes to save, to restore and to import them."""

import os
import shutil
import tempfile

from timing import case, session, tf, timed


def checkpoint_of(megabytes, restores):
    """The time to save variables of 16 MB and smaller ones, together of this size, or to restore them in a new session."""
    for i in range(megabytes // 16):
        tf.get_variable("large_%d" % i, [1024, 4096], initializer=tf.random_uniform_initializer())
    for i in range(50):
        tf.get_variable("small_%d" % i, [64, 64], initializer=tf.zeros_initializer())
    saver, sess = tf.train.Saver(), session()
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "model")

    def save():
        saver.save(sess, path, write_meta_graph=False)

    def restore():
        with tf.Session() as fresh:
            saver.restore(fresh, path)

    try:
        save()
        return timed(restore if restores else save, seconds=4.0, warm=1, least=3)
    finally:
        shutil.rmtree(folder)


@case
def save_100mb():
    """Saving 100 MB of variables."""
    return checkpoint_of(100, restores=False)


@case
def restore_100mb():
    """Restoring 100 MB of variables."""
    return checkpoint_of(100, restores=True)


@case
def save_1gb():
    """Saving 1 GB of variables."""
    return checkpoint_of(1024, restores=False)


@case
def restore_1gb():
    """Restoring 1 GB of variables."""
    return checkpoint_of(1024, restores=True)


@case
def import_graph():
    """Importing a GraphDef of 5,000 nodes."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 8])
        while graph.version < 5000:
            with tf.name_scope("layer"):
                x = tf.nn.relu(tf.matmul(x, tf.ones([8, 8])) + tf.constant(0.1))
        data = graph.as_graph_def().SerializeToString()

    def run():
        with tf.Graph().as_default():
            tf.import_graph_def(tf.GraphDef.FromString(data), name="")

    return timed(run, warm=1, least=3)

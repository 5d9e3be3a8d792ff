"""Checkpoints and graphs as files: what it takes to save, to restore and to import them."""
import os
import shutil
import tempfile

from timing import case, session, tf, timed


def checkpoint_of(megabytes, restore):
    """The time to save, or to restore, variables of 16 MB and smaller ones that are together of this size."""
    whole = megabytes // 16
    for i in range(whole):
        tf.get_variable("large_%d" % i, [1024, 4096], initializer=tf.random_uniform_initializer())
    for i in range(50):
        tf.get_variable("small_%d" % i, [64, 64], initializer=tf.zeros_initializer())
    saver, sess = tf.train.Saver(), session()
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "model")
    try:
        saver.save(sess, path, write_meta_graph=False)
        run = (lambda: saver.restore(sess, path)) if restore else (lambda: saver.save(sess, path, write_meta_graph=False))
        return timed(run, seconds=4.0, warm=1, least=3)
    finally:
        shutil.rmtree(folder)


@case
def save_100mb():
    """Saving 100 MB of variables."""
    return checkpoint_of(100, restore=False)


@case
def restore_100mb():
    """Restoring 100 MB of variables."""
    return checkpoint_of(100, restore=True)


@case
def save_1gb():
    """Saving 1 GB of variables."""
    return checkpoint_of(1024, restore=False)


@case
def restore_1gb():
    """Restoring 1 GB of variables."""
    return checkpoint_of(1024, restore=True)


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

"""What tests of graphs share."""

import everflow as tf


def run(fetches, feeds=None):
    """The values of fetches in a session of their own, where variables and tables have their initial values."""
    variables = [*tf.global_variables(), *tf.local_variables()]
    with tf.Session() as session:
        session.run([[v.initializer for v in variables], tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)])
        return session.run(fetches, feeds)

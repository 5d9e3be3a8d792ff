"""What the timed programs share. They run unchanged on TensorFlow 1.15 (Python 3.7), on today's TensorFlow (compat.v1) and on Everflow."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf
from measuring import CASES, batch, case, timed

__all__ = ["CASES", "batch", "case", "dense", "loss_of", "session", "tf", "timed"]

if not tf.__version__.startswith("1."):
    tf = tf.compat.v1
    tf.disable_v2_behavior()


def session():
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess


def dense(x, n_in, n_out, name):
    w = tf.get_variable(name + "_w", [n_in, n_out], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b = tf.get_variable(name + "_b", [n_out], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b


def loss_of(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

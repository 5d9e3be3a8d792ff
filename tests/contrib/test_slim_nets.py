"""tf.contrib.slim.nets: the variables and end points that published checkpoints and programs know."""

import numpy as np
import pytest

import everflow as tf

slim = tf.contrib.slim
nets = slim.nets


def shape_of(variable):
    (found,) = [v for v in slim.get_model_variables() if v.op.name == variable]
    return found.shape.as_list()


@pytest.mark.parametrize(
    ("scope", "net", "size", "count", "variable", "shape"),
    [
        (nets.vgg.vgg_arg_scope, nets.vgg.vgg_a, 224, 22, "vgg_a/conv3/conv3_2/weights", [3, 3, 256, 256]),
        (nets.vgg.vgg_arg_scope, nets.vgg.vgg_16, 224, 32, "vgg_16/fc6/weights", [7, 7, 512, 4096]),
        (nets.alexnet.alexnet_v2_arg_scope, nets.alexnet.alexnet_v2, 224, 16, "alexnet_v2/conv1/weights", [11, 11, 3, 64]),
        (nets.overfeat.overfeat_arg_scope, nets.overfeat.overfeat, 231, 16, "overfeat/fc6/weights", [6, 6, 1024, 3072]),
        (
            nets.inception.inception_v1_arg_scope,
            nets.inception.inception_v1,
            224,
            230,
            "InceptionV1/Mixed_5b/Branch_2/Conv2d_0a_3x3/weights",
            [3, 3, 32, 128],
        ),
        (
            nets.inception.inception_v2_arg_scope,
            nets.inception.inception_v2,
            224,
            277,
            "InceptionV2/Conv2d_1a_7x7/depthwise_weights",
            [7, 7, 3, 8],
        ),
        (
            nets.inception.inception_v3_arg_scope,
            nets.inception.inception_v3,
            299,
            388,
            "InceptionV3/Mixed_5c/Branch_1/Conv_1_0c_5x5/weights",
            [5, 5, 48, 64],
        ),
        (
            nets.resnet_utils.resnet_arg_scope,
            nets.resnet_v1.resnet_v1_50,
            65,
            267,
            "resnet_v1_50/block4/unit_3/bottleneck_v1/conv2/BatchNorm/moving_variance",
            [512],
        ),
        (nets.resnet_utils.resnet_arg_scope, nets.resnet_v2.resnet_v2_50, 65, 272, "resnet_v2_50/postnorm/gamma", [2048]),
    ],
)
def test_networks(scope, net, size, count, variable, shape):
    images = tf.placeholder(tf.float32, [2, size, size, 3])
    with slim.arg_scope(scope()):
        logits, end_points = net(images, 7)
    assert logits.shape.as_list() in ([2, 7], [2, 1, 1, 7])
    assert len(slim.get_model_variables()) == count and shape_of(variable) == shape
    assert logits in end_points.values() or "predictions" in end_points
    assert len(tf.losses.get_regularization_losses()) > 7


def test_networks_may_be_dense_and_thin():
    images = tf.placeholder(tf.float32, [1, 65, 65, 3])
    with slim.arg_scope(nets.resnet_utils.resnet_arg_scope()):
        features, end_points = nets.resnet_v1.resnet_v1_50(images, global_pool=False, output_stride=8, is_training=False)
        assert features.shape.as_list() == [1, 9, 9, 2048] and "resnet_v1_50/block4" in end_points
        with pytest.raises(ValueError, match="multiple of 4"):
            nets.resnet_v1.resnet_v1_50(images, output_stride=6, scope="other")
    with slim.arg_scope(nets.inception.inception_v3_arg_scope()):
        thin, _ = nets.inception.inception_v3_base(tf.zeros([1, 99, 99, 3]), "Mixed_5d", depth_multiplier=0.25)
    assert thin.shape.as_list() == [1, 10, 10, 72]
    with pytest.raises(ValueError, match="depth_multiplier is not greater than zero"):
        nets.inception.inception_v2_base(images, depth_multiplier=0)
    with pytest.raises(ValueError, match="Unknown final endpoint nothing"):
        nets.inception.inception_v1_base(images, "nothing")


def test_a_small_resnet_trains():
    block = nets.resnet_v2.resnet_v2_block
    images, labels = np.random.RandomState(0).rand(4, 17, 17, 3).astype(np.float32), [0, 1, 0, 1]
    with slim.arg_scope(nets.resnet_utils.resnet_arg_scope(batch_norm_decay=0.5)):
        logits, _ = nets.resnet_v2.resnet_v2(images, [block("block1", 2, 2, 2), block("block2", 4, 1, 1)], num_classes=2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.squeeze(logits, [1, 2]))
    train = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.01))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(train) for _ in range(20)]
    assert losses[-1] < losses[0] / 2

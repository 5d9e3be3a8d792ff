"""tfe.Network, tfe.Sequential and tfe.Saver."""

import os

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")

tfe = tf.contrib.eager


class Net(tfe.Network):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.hidden = self.track_layer(tf.layers.Dense(2, use_bias=False))
        self.last = self.track_layer(tf.layers.Dense(1))

    def call(self, x):
        return self.last(self.hidden(x))


class Outer(tfe.Network):
    def __init__(self):
        super().__init__()
        self.inner = self.track_layer(Net())

    def call(self, x):
        return self.inner(x)


def names(network):
    return [v.name for v in network.variables]


def test_variables_are_named_after_network_and_layer():
    first, second, outer = Net(), Net(), Outer()
    for network in (first, second, outer):
        assert network(tf.ones([4, 3])).shape == [4, 1]
    assert names(first) == ["net/dense/kernel:0", "net/dense_1/kernel:0", "net/dense_1/bias:0"]
    assert names(second)[0] == "net_1/dense/kernel:0"
    assert names(outer)[0] == "outer/net/dense/kernel:0"
    assert first.get_layer(index=1) is first.last and first.get_layer("dense") is first.hidden
    assert len(first.trainable_weights) == 3


def test_a_network_without_a_name_has_none_until_it_is_called():
    network = Net()
    with pytest.raises(ValueError, match="does not yet have a final name"):
        network.name  # noqa: B018
    network(tf.ones([1, 3]))
    assert network.name == "net"


def test_gradients_reach_the_layers():
    network = Net()
    found = tfe.implicit_gradients(lambda x: tf.reduce_sum(network(x)))(tf.ones([4, 3]))
    assert sorted(v.name for _, v in found) == sorted(names(network))
    bias = next(g for g, v in found if v.name == "net/dense_1/bias:0")
    assert bias.numpy().tolist() == [4.0]


def test_checkpoints_leave_out_the_networks_name(tmp_path):
    saved = Net("saved")
    saved(tf.ones([1, 3]))
    path = tfe.save_network_checkpoint(saved, str(tmp_path), global_step=3)
    assert os.path.basename(path) == "saved-3"
    assert [n for n, _ in tf.train.list_variables(path)] == ["dense/kernel", "dense_1/bias", "dense_1/kernel"]
    before, after = Net("before"), Net("after")
    tfe.restore_network_checkpoint(before, path)
    for network in (before, after):
        network(tf.ones([1, 3]))
    tfe.restore_network_checkpoint(after, path)
    for network in (before, after):
        for x, y in zip(saved.variables, network.variables):
            np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_sequential_calls_layers_and_functions():
    model = tfe.Sequential([tf.layers.Dense(2, kernel_initializer=tf.ones_initializer()), tf.negative, tf.nn.relu])
    assert model(tf.ones([1, 3])).numpy().tolist() == [[0.0, 0.0]]
    assert names(model) == ["sequential/dense/kernel:0", "sequential/dense/bias:0"]


def test_only_layers_are_tracked():
    with pytest.raises(TypeError, match="not a tf.layers.Layer"):
        Net().track_layer(3)
    with pytest.raises(ValueError, match="No such layer: x"):
        Net().get_layer("x")


def test_saver_goes_by_name(tmp_path):
    v = tf.Variable(3.0, name="v")
    path = tfe.Saver([v]).save(str(tmp_path / "s"), global_step=2)
    v.assign(0.0)
    tfe.Saver([v]).restore(path)
    assert v.numpy() == 3.0
    with tfe.restore_variables_on_create(path):
        assert tf.Variable(7.0, name="v").numpy() == 3.0


def test_names_of_networks_are_taken_once_in_a_scope():
    x = tf.ones([1, 1])
    Net(name="pair")(x)
    with pytest.raises(ValueError, match="named 'pair' already exists"):
        Net(name="pair")(x)
    with tf.variable_scope("other"):
        there = Net(name="pair")
    there(x)


def test_networks_of_graphs_are_saved_by_the_session(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        network, again = Net(name="a"), Net(name="b")
        x = tf.ones([1, 1])
        results = network(x), again(x)
        session.run(tf.global_variables_initializer())
        path = tfe.save_network_checkpoint(network, str(tmp_path))
        tfe.restore_network_checkpoint(again, path)
        first, second = session.run(results)
        assert first.tolist() == second.tolist()

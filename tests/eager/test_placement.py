import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


@pytest.mark.parametrize("name", ["/cpu:7", "cpu:7", "/device:CPU:1", "/job:foo/cpu:0", "/task:3", "/device:TPU:0"])
def test_devices_that_are_not_there(name):
    with pytest.raises(RuntimeError, match=r"^/job:\w+/replica:0/task:\d/device:[A-Z]+:\d unknown device\.$"), tf.device(name):
        tf.constant(1.0)


@pytest.mark.parametrize("name", ["/cpu:0", "cpu:0", "/device:cpu:0", "/job:localhost", "CPU:0", None, ""])
def test_devices_that_are_there(name):
    with tf.device(name):
        assert tf.add(1, 2).device == "/job:localhost/replica:0/task:0/device:CPU:0"


def test_placement_is_logged_when_asked_for(capfd):
    assert not tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(True)
    try:
        assert tf.debugging.get_log_device_placement()
        tf.add(1, 2)
        tf.function(lambda x: x)(tf.constant(1))
    finally:
        tf.debugging.set_log_device_placement(False)
    tf.subtract(1, 2)
    logged = capfd.readouterr().err
    assert "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:0" in logged or "Executing op Add in device" in logged
    assert "Executing op __inference_" in logged
    assert "op Sub" not in logged


def test_executors_of_functions():
    f = tf.function(lambda x: x * 2)
    with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        assert f(tf.constant(2)).numpy() == 4
    with pytest.raises(tf.errors.NotFoundError, match="No executor factory registered"), tf.experimental.function_executor_type("foo"):
        f(tf.constant(2))


def test_ranges_of_channels_must_fit():
    quantized = tf.quantization.fake_quant_with_min_max_vars_per_channel
    with pytest.raises(tf.errors.InvalidArgumentError, match="min has incorrect size, expected 3 was 2"):
        quantized(tf.ones([2, 3]), tf.zeros([2]), tf.ones([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="max has incorrect size, expected 3 was 1"):
        quantized(tf.ones([2, 3]), tf.zeros([3]), tf.ones([1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="gradient and input must be the same size"):
        tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(tf.ones([2, 3]), tf.ones([2, 2]), tf.zeros([3]), tf.ones([3]))


def test_a_processor_that_is_split_has_devices_for_functions_too():
    config = tf.config.experimental
    cpu = config.list_physical_devices("CPU")[0]
    config.set_virtual_device_configuration(cpu, [config.VirtualDeviceConfiguration()] * 2)
    try:
        places = [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(2)]
        assert [d.name for d in config.list_logical_devices("CPU")] == places

        @tf.function
        def on(name):
            with tf.device(name):
                return tf.random.uniform([]) * 0 + 1

        assert on("/cpu:1").numpy() == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assigned to /device:CPU:2 but available.*CPU:0, .*CPU:1 \]"):
            on("/cpu:2")
    finally:
        config.set_virtual_device_configuration(cpu, [config.VirtualDeviceConfiguration()])
    assert [d.device_type for d in config.list_logical_devices()][:1] == ["CPU"]


def test_scopes_end_in_the_order_they_began():
    around = tf.device("/cpu:0")
    around.__enter__()
    with tf.device(None), pytest.raises(RuntimeError, match="^Exiting device scope without proper scope nesting$"):
        around.__exit__(None, None, None)
    around.__exit__(None, None, None)

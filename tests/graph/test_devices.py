"""Names of devices."""

import types

import pytest

from everflow.graph.devices import DeviceSpec, ImmutableDeviceSpec, canonical_name, check_valid, is_device_spec, merge_device


@pytest.mark.parametrize(
    "given, full",
    [
        ("", ""),
        (None, ""),
        ("/cpu:0", "/device:CPU:0"),
        ("gpu:1", "/device:GPU:1"),
        ("/GPU", "/device:GPU:*"),
        ("/device:TPU:3", "/device:TPU:3"),
        ("/job:ps/task:1/device:CPU:*", "/job:ps/task:1/device:CPU:*"),
        ("/task:2/replica:0/job:w", "/job:w/replica:0/task:2"),
        (DeviceSpec(job="w", device_type="gpu"), "/job:w/device:GPU:*"),
    ],
)
def test_full_names(given, full):
    assert canonical_name(given) == full


@pytest.mark.parametrize(
    "name, text",
    [
        ("/foo:1", "Unknown attribute: 'foo' in '/foo:1'"),
        ("/device:cpu", "Unknown attribute: 'device' in '/device:cpu'"),
        ("/job", "Unknown attribute: 'job' in '/job'"),
        ("/job:a/gpu:2/cpu:0", "Cannot specify multiple device types: /job:a/gpu:2/cpu:0"),
        ("/task:x", "invalid literal for int() with base 10: 'x'"),
    ],
)
def test_names_that_are_none(name, text):
    for parse in (DeviceSpec.from_string, ImmutableDeviceSpec.from_string, check_valid, merge_device):
        with pytest.raises(ValueError) as caught:
            parse(name)
        assert str(caught.value) == text


def test_parts():
    spec = DeviceSpec.from_string("/job:w/replica:1/task:2/gpu:3")
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("w", 1, 2, "GPU", 3)
    assert DeviceSpec(job=3, task="4").to_string() == "/job:3/task:4"
    assert DeviceSpec(device_index=3).to_string() == ""


def test_a_spec_may_be_changed():
    spec = DeviceSpec(job="a", device_index=1)
    spec.job, spec.task, spec.device_type = "b", "4", "gpu"
    assert spec.to_string() == "/job:b/task:4/device:GPU:1"
    assert spec.parse_from_string("/cpu:0") is spec and spec.to_string() == "/device:CPU:0"


def test_an_immutable_spec_may_not():
    spec = ImmutableDeviceSpec(job="a")
    with pytest.raises(AttributeError, match="job"):
        spec.job = "b"
    assert spec.parse_from_string("/cpu:0") is not spec and spec.to_string() == "/job:a"
    assert spec.replace(task=3).to_string() == "/job:a/task:3"


@pytest.mark.parametrize(
    "first, second, merged",
    [
        ("/job:a", "/job:b/task:1", "/job:b/task:1"),
        ("/gpu:1", "/cpu:0", "/device:CPU:0"),
        ("/gpu:1", "/gpu:*", "/device:GPU:1"),
        ("/job:a/gpu:1", "/task:2", "/job:a/task:2/device:GPU:1"),
    ],
)
def test_merging_takes_what_the_second_gives(first, second, merged):
    spec = DeviceSpec.from_string(first)
    assert spec.make_merged_spec(DeviceSpec.from_string(second)).to_string() == merged
    assert spec.to_string() == canonical_name(first)
    spec.merge_from(DeviceSpec.from_string(second))
    assert spec.to_string() == merged


def test_a_device_function_leaves_what_the_op_says():
    def device_of(function, device):
        return function(types.SimpleNamespace(device=device)).to_string()

    assert device_of(merge_device("/job:a/gpu:0"), "/task:1/cpu:1") == "/job:a/task:1/device:CPU:1"
    assert device_of(merge_device("/gpu:0"), "") == "/device:GPU:0"
    assert device_of(merge_device(DeviceSpec(job="q")), "/gpu:0") == "/job:q/device:GPU:0"
    assert device_of(merge_device(None), "/gpu:0") == "/device:GPU:0"
    assert merge_device("/gpu:0").shortcut_string_merge(types.SimpleNamespace(device="/job:a")) == "/job:a/device:GPU:0"
    assert merge_device("").is_null_merge and not merge_device("/gpu:0").is_null_merge


def test_equality():
    assert DeviceSpec(job="a") == DeviceSpec(job="a") != DeviceSpec(job="b")
    assert len({DeviceSpec(job="a"), DeviceSpec(job="a")}) == 1
    assert DeviceSpec(job="a") != ImmutableDeviceSpec(job="a")
    assert is_device_spec(DeviceSpec()) and is_device_spec(ImmutableDeviceSpec()) and not is_device_spec("/gpu:0")

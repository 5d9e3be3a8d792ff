"""Sessions and hooks around runs: what they watch, where it goes, and what they refuse."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from everflow.debug.dump import DebugDumpDir
from everflow.debug.dumping_session import DumpingDebugWrapperSession
from everflow.debug.hooks import DumpingDebugHook
from everflow.debug.wrapped_sessions import (
    BaseDebugWrapperSession,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartResponse,
    OnSessionInitResponse,
    WatchOptions,
)
from everflow.proto import config_pb2


class Recording(BaseDebugWrapperSession):
    """Does with each run what it was told, and remembers what it heard."""

    def __init__(self, session, root, action=OnRunStartAction.DEBUG_RUN, init="proceed", **arguments):
        self.root, self.action, self.init, self.heard = root, action, init, []
        super().__init__(session, **arguments)

    def on_session_init(self, request):
        self.heard.append(request)
        return OnSessionInitResponse(self.init)

    def on_run_start(self, request):
        self.heard.append(request)
        return OnRunStartResponse(self.action, [f"file://{self.root}"])

    def on_run_end(self, request):
        self.heard.append(request)
        return OnRunEndResponse()


def test_a_wrapper_hears_of_runs_and_has_them_watched(session, tmp_path):
    y = tf.constant(3.0, name="y")
    wrapper = Recording(session, tmp_path)
    assert wrapper.run(y) == 3
    init, start, end = wrapper.heard
    assert init.session is session
    assert (start.fetches, start.feed_dict, start.run_call_count, start.is_callable_runner) == (y, None, 1, False)
    assert (end.performed_action, end.tf_error, len(end.run_metadata.partition_graphs)) == ("debug_run", None, 1)
    assert DebugDumpDir(str(tmp_path)).get_tensors("y", 0, "DebugIdentity") == [3]
    assert (wrapper.graph, wrapper.sess_str, wrapper.session) == (session.graph, session.sess_str, session)


def test_runs_may_be_traced_or_left_alone(session, tmp_path):
    y = tf.constant(3.0, name="y")
    profiled = Recording(session, tmp_path, OnRunStartAction.PROFILE_RUN)
    assert profiled.run(y) == 3
    assert len(profiled.heard[-1].run_metadata.step_stats.dev_stats) == 1
    plain = Recording(session, tmp_path, OnRunStartAction.NON_DEBUG_RUN)
    assert plain.run(y) == 3 and plain.heard[-1].run_metadata is None
    assert not list(tmp_path.iterdir())


def test_errors_are_told_and_returned_or_raised(session, tmp_path):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.matmul([[1.0, 2.0]], x, name="y")
    wrapper = Recording(session, tmp_path)
    found = wrapper.run(y, {x: [[1.0]]})
    assert isinstance(found, errors.InvalidArgumentError) and wrapper.heard[-1].tf_error is found
    with pytest.raises(errors.InvalidArgumentError):
        Recording(session, tmp_path, pass_through_operrors=True).run(y, {x: [[1.0]]})


def test_callables_are_runs_too(session, tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(x, 1.0, name="y")
    wrapper = Recording(session, tmp_path)
    assert wrapper.make_callable(y, [x])(2.0) == 3
    assert wrapper.heard[-2].is_callable_runner
    options = config_pb2.CallableOptions()
    options.feed.append("x")
    options.fetch.append("y")
    assert wrapper._make_callable_from_options(options)(4.0) == [5]
    assert wrapper.run_call_count == 2
    assert sorted(float(v) for v in DebugDumpDir(str(tmp_path), validate=False).get_tensors("y", 0, "DebugIdentity")) == [3, 5]


def test_a_wrapper_is_a_session(session, tmp_path):
    y = tf.constant(3.0, name="y")
    wrapper = Recording(session, tmp_path)
    with wrapper:
        assert y.eval() == 3
    with wrapper.as_default():
        assert y.eval() == 3
    assert wrapper.run([]) == [] and wrapper.run_call_count == 2
    assert wrapper.run_step_fn(lambda context: context.session) is wrapper
    assert [device.name for device in wrapper.list_devices()] == [device.name for device in session.list_devices()]
    with pytest.raises(ValueError, match="does not have a method called 'should_stop'"):
        wrapper.should_stop()
    with pytest.raises(NotImplementedError, match="partial_run_setup is not implemented for debug-wrapper sessions"):
        wrapper.partial_run_setup(y)


def test_threads_may_be_left_alone(session, tmp_path):
    y = tf.constant(3.0, name="y")
    wrapper = Recording(session, tmp_path, thread_name_filter="Nobody")
    assert wrapper.run(y) == 3 and wrapper.run_call_count == 0


def test_what_wrappers_refuse(session, tmp_path):
    with pytest.raises(TypeError, match="Expected type .*; got type <class 'int'>"):
        Recording(3, tmp_path)
    with pytest.raises(TypeError, match="Expected type .*; got type .*Recording"):
        Recording(Recording(session, tmp_path), tmp_path)
    with pytest.raises(ValueError, match="Invalid OnSessionInitAction value: nonsense"):
        Recording(session, tmp_path, init="nonsense")
    with pytest.raises(ValueError, match="Invalid OnRunStartAction value: nonsense"):
        Recording(session, tmp_path, "nonsense").run(tf.constant(1.0))
    with pytest.raises(TypeError, match="Expected type <class 'list'>; got type <class 'str'>"):
        OnRunStartResponse("debug_run", "file:///x")


def test_watch_options_are_readable():
    assert repr(WatchOptions()) == (
        "WatchOptions(debug_ops=['DebugIdentity'], node_name_regex_whitelist=None, op_type_regex_whitelist=None, "
        "tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False)"
    )


def test_each_run_has_a_folder_that_says_what_was_fetched_and_fed(session, tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.negative(x, name="y")
    wrapper = DumpingDebugWrapperSession(session, str(tmp_path / "new"), log_usage=False)
    for value in (1.0, 2.0):
        wrapper.run(y, {x: value})
    folders = sorted((tmp_path / "new").iterdir())
    assert [folder.name.split("_")[0::2] for folder in folders] == [["run", "0"], ["run", "1"]]
    dump = DebugDumpDir(str(folders[1]))
    assert dump.get_tensors("y", 0, "DebugIdentity") == [-2]
    assert dump.run_fetches_info == repr(y) and dump.run_feed_keys_info == repr({x: 0}.keys())


def test_dumps_go_only_where_nothing_is(session, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="session_root path points to a file"):
        DumpingDebugWrapperSession(session, str(tmp_path / "file"))
    with pytest.raises(ValueError, match="session_root path points to a non-empty directory"):
        DumpingDebugWrapperSession(session, str(tmp_path))
    with pytest.raises(TypeError, match="watch_fn is not callable"):
        DumpingDebugWrapperSession(session, str(tmp_path / "new"), watch_fn="everything")


@pytest.mark.parametrize("as_tuple", [True, False])
def test_a_function_says_what_is_watched(session, tmp_path, as_tuple):
    y = tf.negative(tf.constant([1.0, np.nan], name="x"), name="y")

    def watch(fetches, feeds):
        assert (fetches, feeds) == (y, None)
        return ("DebugNanCount", "y", None) if as_tuple else WatchOptions("DebugNanCount", op_type_regex_whitelist="Neg")

    DumpingDebugWrapperSession(session, str(tmp_path), watch_fn=watch).run(y)
    dump = DebugDumpDir(str(next(tmp_path.iterdir())))
    assert [datum.watch_key for datum in dump.dumped_tensor_data] == ["y:0:DebugNanCount"]
    assert dump.get_tensors("y", 0, "DebugNanCount")[0].tolist() == [1]


def test_a_hook_dumps_the_runs_of_a_monitored_session(tmp_path):
    v = tf.Variable(10.0, name="v")
    add = tf.assign_add(v, 1.0, name="add")
    with tf.train.MonitoredSession(hooks=[DumpingDebugHook(str(tmp_path), log_usage=False)]) as session:
        assert [session.run(add) for _ in range(2)] == [11, 12]
    first, second = (DebugDumpDir(str(folder)) for folder in sorted(tmp_path.iterdir()))
    assert first.get_tensors("v", 0, "DebugIdentity") == [10] and second.get_tensors("v", 0, "DebugIdentity") == [11]

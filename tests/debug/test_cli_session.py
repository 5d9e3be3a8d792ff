"""The session that asks on a command line what becomes of runs."""

import os

import pytest

import everflow as tf
from everflow import errors
from everflow.debug.cli import ui_factory
from everflow.debug.cli_session import LocalCLIDebugWrapperSession
from everflow.debug.hooks import LocalCLIDebugHook


class Scripted(LocalCLIDebugWrapperSession):
    """Takes its commands from a list. Remembers when it asked, and what had been dumped then."""

    def __init__(self, session, commands, folder):
        super().__init__(session, dump_root=str(folder / "dump"), ui_type="readline", config_file_path=str(folder / "config"))
        self.commands = list(commands)
        self.asked = []
        self.dumps = []

    def _launch_cli(self):
        self.asked.append(("start" if self._is_run_start else "end", self._run_call_count))
        return super()._launch_cli()

    def _prep_debug_cli_for_run_end(self, debug_dump, tf_error, passed_filter, passed_filter_exclude_node_names):
        self.dumps.append((sorted({datum.node_name for datum in debug_dump.dumped_tensor_data}), tf_error, passed_filter))
        self._run_cli = ui_factory.get_ui("readline", config=self._config())
        self._init_command = None


@pytest.fixture
def debugged(session, tmp_path, monkeypatch):
    """Makes a session that takes its commands from a list; the fetch counts `v` up."""
    v = tf.Variable(10.0, name="v")
    count = tf.assign_add(v, tf.constant(1.0, name="one"), name="count")
    session.run(v.initializer)

    def make(*commands):
        wrapper = Scripted(session, commands, tmp_path)
        monkeypatch.setattr("builtins.input", lambda prompt: wrapper.commands.pop(0))
        return wrapper, count

    return make


def test_a_run_that_is_watched_is_followed_by_a_question(debugged, capsys):
    wrapper, count = debugged("run", "run", "run")
    assert [wrapper.run(count), wrapper.run(count)] == [11, 12]
    assert wrapper.asked == [("start", 1), ("end", 1), ("end", 2)]
    assert wrapper.dumps == [(["count", "one", "v"], None, None)] * 2
    assert not os.path.exists(wrapper._dump_root)
    assert "run-start: run #1: 1 fetch (count:0); 0 feeds" in capsys.readouterr().out


def test_runs_may_be_let_through(debugged):
    wrapper, count = debugged("run -n", "run -t 2", "run", "run")
    for _ in range(4):
        wrapper.run(count)
    assert wrapper.asked == [("start", 1), ("start", 2), ("end", 3), ("end", 4)]


def test_runs_go_on_until_a_tensor_passes_a_filter(debugged):
    wrapper, count = debugged("run -f nothing_like_it", "run -f large --filter_exclude_node_names count", "run")
    wrapper.add_tensor_filter("large", lambda datum, tensor: datum.node_name in ("v", "count") and tensor > 12)
    for _ in range(4):
        wrapper.run(count)
    assert wrapper.asked == [("start", 1), ("end", 4)]
    assert [passed for _, _, passed in wrapper.dumps] == ["large"]


def test_expressions_choose_what_is_dumped(debugged):
    wrapper, count = debugged("run --node_name_filter one", "run --op_type_filter AssignAdd", "run --tensor_dtype_filter float32$", "run")
    for _ in range(3):
        wrapper.run(count)
    assert [names for names, _, _ in wrapper.dumps] == [["one"], ["count"], ["one"]]


def test_feeds_are_printed(debugged, capsys):
    x = tf.placeholder(tf.float32, [2], name="x")
    wrapper, _ = debugged("print_feed x:0", "pf x:0[1]", "pf y:0", "run -n", "pf x:0", "run -n")
    wrapper.run(tf.identity(x), {x: [5.5, 6.5]})
    printed = capsys.readouterr().out
    assert 'Tensor "x:0 (feed)":' in printed and "[5.5, 6.5]" in printed
    assert "ERROR: The feed_dict of the current run does not contain the key y:0" in printed
    wrapper.run(tf.constant(1.0))
    assert "ERROR: The feed_dict of the current run is None or empty." in capsys.readouterr().out


def test_commands_that_can_not_be(debugged, capsys):
    wrapper, count = debugged("run --what", "run -f unknown", "run --filter_exclude_node_names x", "run -n")
    wrapper.run(count)
    printed = capsys.readouterr().out
    assert "unrecognized arguments: --what" in printed
    assert "There is no tensor filter named 'unknown'" in printed
    assert "valid only if the flag -f" in printed


def test_leaving_ends_the_program(debugged):
    wrapper, count = debugged("exit")
    with pytest.raises(SystemExit):
        wrapper.run(count)
    assert wrapper.run_call_count == 1


def test_errors_are_shown_where_something_ran_and_raised_where_nothing_did(debugged):
    wrapper, _ = debugged("run", "run", "run")
    x = tf.placeholder(tf.float32, name="x")
    found = wrapper.run(tf.matmul([[1.0, 2.0]], x, name="y"), {x: [[1.0]]})
    assert isinstance(found, errors.InvalidArgumentError)
    assert wrapper.dumps[0][1] is found
    with tf.device("/device:GPU:1337"):
        lost = tf.constant(1.0)
    with pytest.raises(errors.OpError, match="1337"):
        wrapper.run(lost)


def test_dumps_go_only_where_nothing_is(session, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="dump_root path points to a file"):
        LocalCLIDebugWrapperSession(session, dump_root=str(tmp_path / "file"))
    with pytest.raises(ValueError, match="dump_root path points to a non-empty directory"):
        LocalCLIDebugWrapperSession(session, dump_root=str(tmp_path))


def test_a_hook_asks_too(tmp_path, monkeypatch, capsys):
    commands = ["run -n", "run -n"]
    monkeypatch.setattr("builtins.input", lambda prompt: commands.pop(0))
    y = tf.constant(1.0, name="y")
    hook = LocalCLIDebugHook(ui_type="readline", config_file_path=str(tmp_path / "config"))
    hook.add_tensor_filter("everything", lambda datum, tensor: True)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert [session.run(y), session.run(y)] == [1, 1]
    assert not commands
    assert "everything" in capsys.readouterr().out


def test_what_was_dumped_or_traced_is_looked_at_with_commands(session, tmp_path, monkeypatch, capsys):
    commands = ["run", "lt", "pt y", "run -p", "run -n"]
    monkeypatch.setattr("builtins.input", lambda prompt: commands.pop(0))
    y = tf.negative(tf.constant(1.5, name="x"), name="y")
    wrapper = LocalCLIDebugWrapperSession(session, ui_type="readline", config_file_path=str(tmp_path / "config"))
    assert wrapper.run(y) == -1.5
    printed = capsys.readouterr().out
    assert "2 dumped tensor(s):" in printed and 'Tensor "y:0:DebugIdentity":' in printed and "-1.5" in printed
    assert wrapper.run(y) == -1.5
    assert "run-end (profiler mode)" in capsys.readouterr().out
    assert commands == []

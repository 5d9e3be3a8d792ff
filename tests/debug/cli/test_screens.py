"""Screens of the debugger: what a run is about, what went wrong, and the settings."""

import json

import numpy as np
import pytest

import everflow as tf
from everflow.debug.cli import readable, screens
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.menus import MAIN_MENU_KEY, MenuItem


def links(text, line):
    """The commands that parts of a line are links to."""
    found = [attribute for segment in text.font_attr_segs.get(line, ()) for attribute in np.atleast_1d(segment[2])]
    return [attribute.content for attribute in found if isinstance(attribute, MenuItem)]


def test_sizes_and_times_are_readable():
    sizes = [readable.bytes_to_readable_str(size) for size in (None, 1023, 1536, 2**20, 3 * 2**30)]
    assert sizes == ["None", "1023", "1.50k", "1.00M", "3.00G"]
    assert readable.bytes_to_readable_str(2048, include_b=True) == "2.00kB"
    assert [readable.time_to_readable_str(time) for time in (None, 40, 1234, 1000, 4e7)] == ["0", "40us", "1.23ms", "1ms", "40s"]
    assert readable.time_to_readable_str(1234567, force_time_unit="ms") == "1234.567ms"
    with pytest.raises(ValueError, match="Invalid time unit: ks"):
        readable.time_to_readable_str(1, force_time_unit="ks")


def test_the_start_of_a_run_says_what_is_fetched_and_fed_and_how_to_go_on():
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    text = screens.get_run_start_intro(3, {"x": [a, b]}, {a: 5.0}, {"has_inf_or_nan": None})
    assert text.lines[1:9] == ["Session.run() call #3:", "", "Fetch(es):", "  a:0", "  b:0", "", "Feed dict:", "  a:0"]
    assert links(text, 8) == ["pf 'a:0'"]
    run = text.lines.index("  run:")
    assert links(text, run) == ["run"] and links(text, run + 2) == ["run -n"] and links(text, run + 4) == []
    assert links(text, text.lines.index("        * has_inf_or_nan")) == ["run -f has_inf_or_nan"]
    assert text.annotations[MAIN_MENU_KEY].captions() == ["run", "exit"]
    assert screens.get_run_short_description(3, a, {a: 1.0}) == "run #3: 1 fetch (a:0); 1 feed (a:0)"
    assert screens.get_run_short_description(3, [a, b], None) == "run #3: 2 fetches; 0 feeds"
    assert screens.get_run_short_description(1, None, None, is_callable_runner=True) == "runner from make_callable()"


def test_an_error_comes_with_the_commands_to_look_for_its_reason():
    op = tf.Variable(1.0, name="v").initializer
    text = screens.get_error_intro(tf.errors.OpError(None, op, "went wrong", 3))
    assert text.font_attr_segs[1] == [(0, len(text.lines[1]), "blink")]
    assert [links(text, line) for line in (4, 6, 8)] == [["ni -a -d -t v/Assign"], ["li -r v/Assign"], ["lt"]]
    assert "Op name:    v/Assign" in text.lines and "went wrong" in text.lines
    unknown = screens.get_error_intro(tf.errors.OpError(None, None, "went wrong", 3))
    assert unknown.lines[3] == "WARNING: Cannot determine the name of the op that caused the error."


def test_a_tensor_is_shown_sliced_and_saved(tmp_path):
    path = str(tmp_path / "part.npy")
    with np.printoptions():
        text = screens.format_tensor(np.arange(6.0).reshape(2, 3), "a:0:D", {}, tensor_slicing="[1, :]", write_path=path)
        long = screens.format_tensor(np.arange(3000), "a:0", {})
        whole = screens.format_tensor(np.arange(3000), "a:0", {}, print_all=True)
    assert text.lines == [
        'Tensor "a:0:D[1, :]":',
        "  dtype: float64",
        "  shape: (3,)",
        "",
        f"Saved value to: {path} (152B)",
        "",
        "array([3., 4., 5.])",
    ]
    assert np.load(path).tolist() == [3, 4, 5]
    assert any("..." in line for line in long.lines) and not any("..." in line for line in whole.lines)


def test_ranges_highlight_the_elements_in_them():
    options = screens.parse_ranges_highlight("[[-inf, 0], [2, 3]]")
    assert options.criterion(np.arange(5)).tolist() == [True, False, True, True, False]
    assert screens.parse_ranges_highlight("") is None


def test_settings_are_kept_in_their_file_and_told_to_listeners(tmp_path):
    path = tmp_path / "config"
    path.write_text("no json")
    config, heard = CLIConfig(str(path)), []
    config.set_callback("mouse_mode", lambda config: heard.append(config.get("mouse_mode")))
    config.set("mouse_mode", "off")
    config.set("graph_recursion_depth", "7")
    assert (heard, json.loads(path.read_text())) == ([False], {"graph_recursion_depth": 7, "mouse_mode": False})
    assert CLIConfig(str(path)).summarize().lines[2:] == ["  graph_recursion_depth: 7", "  mouse_mode: False"]
    with pytest.raises(ValueError, match="Invalid string value for bool type: maybe"):
        config.set("mouse_mode", "maybe")
    with pytest.raises(KeyError, match="colour is not a valid property name"):
        config.get("colour")

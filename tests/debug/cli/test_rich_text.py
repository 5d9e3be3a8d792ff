"""Texts with attributes: put together, cut, searched and wrapped, with what is said of their lines."""

import pytest

from everflow.debug.cli.menus import Menu, MenuItem
from everflow.debug.cli.rich_text import (
    REGEX_MATCH_LINES_KEY,
    RichLine,
    RichTextLines,
    regex_find,
    rich_text_lines_from_rich_line_list,
    wrap_rich_text_lines,
)


def song():
    return RichTextLines(
        ["Roses are red", "Violets are blue"],
        {0: [(10, 13, "red")], 1: [(12, 16, "blue")]},
        {0: "long waves", 1: "short waves", "poem": "old"},
    )


def test_a_line_knows_where_its_pieces_lie():
    line = RichLine("to ") + RichLine("be", "bold") + ", or " + RichLine("not", ["red", "underline"])
    assert (line.text, len(line)) == ("to be, or not", 13)
    assert line.font_attr_segs == [(3, 5, "bold"), (10, 13, ["red", "underline"])]
    with pytest.raises(TypeError, match="3 cannot be concatenated with a RichLine"):
        line + 3


def test_lines_are_a_list_or_one_string():
    assert RichTextLines("one").lines == ["one"]
    with pytest.raises(ValueError, match="Unexpected type in lines: <class 'int'>"):
        RichTextLines(5)


def test_a_slice_takes_along_what_is_said_of_its_lines_and_of_the_whole():
    end = song().slice(1, 2)
    assert (end.lines, end.font_attr_segs) == (["Violets are blue"], {0: [(12, 16, "blue")]})
    assert end.annotations == {0: "short waves", "poem": "old"}
    with pytest.raises(ValueError, match="negative index"):
        song().slice(0, -1)


def test_a_text_can_be_extended_at_both_ends():
    text = song()
    text.extend(RichTextLines(["Sugar"], {0: [(0, 5, "white")]}, {"poem": "new"}))
    text.prepend("Title", [(0, 5, "bold")])
    text.append_rich_line(RichLine("end"))
    assert text.lines == ["Title", "Roses are red", "Violets are blue", "Sugar", "end"]
    assert text.font_attr_segs == {0: [(0, 5, "bold")], 1: [(10, 13, "red")], 2: [(12, 16, "blue")], 3: [(0, 5, "white")]}
    assert text.annotations == {1: "long waves", 2: "short waves", "poem": "new"}


def test_a_text_is_written_without_attributes(tmp_path):
    song().write_to_file(str(tmp_path / "song"))
    assert (tmp_path / "song").read_text() == "Roses are red\nViolets are blue\n"


def test_a_search_marks_what_it_finds_beside_what_is_marked_already():
    found = regex_find(song(), "r?e", "yellow")
    assert found.font_attr_segs[0] == [(3, 4, "yellow"), (7, 9, "yellow"), (10, 13, "red"), (10, 12, "yellow")]
    assert found.annotations[REGEX_MATCH_LINES_KEY] == [0, 1]
    assert song().font_attr_segs[0] == [(10, 13, "red")]
    with pytest.raises(ValueError, match=r'Invalid regular expression: "\["'):
        regex_find(song(), "[", "yellow")


def test_wrapping_cuts_attributes_too_and_tells_where_lines_begin():
    wrapped, firsts = wrap_rich_text_lines(song(), 12)
    assert wrapped.lines == ["Roses are re", "d", "Violets are ", "blue"]
    assert wrapped.font_attr_segs == {0: [(10, 12, "red")], 1: [(0, 1, "red")], 3: [(0, 4, "blue")]}
    assert (firsts, wrapped.annotations) == ([0, 2], {0: "long waves", 2: "short waves", "poem": "old"})
    assert wrap_rich_text_lines(RichTextLines(["", "ab"]), 5)[0].lines == ["", "ab"]
    with pytest.raises(ValueError, match="Invalid type of input cols"):
        wrap_rich_text_lines(song(), "12")


def test_plain_strings_are_lines_without_attributes():
    text = rich_text_lines_from_rich_line_list(["a", RichLine("b", "bold")], annotations={"k": 1})
    assert (text.lines, text.font_attr_segs, text.annotations) == (["a", "b"], {1: [(0, 1, "bold")]}, {"k": 1})


def test_a_menu_is_a_line_in_which_enabled_items_are_links():
    menu, eat, sleep = Menu(), MenuItem("eat", "eat -a"), MenuItem("sleep", "sleep", enabled=False)
    menu.append(sleep)
    menu.insert(0, eat)
    line = menu.format_as_single_line(prefix="| ", enabled_item_attrs="bold", disabled_item_attrs=["gray"])
    assert (menu.captions(), menu.num_items(), line.lines) == (["eat", "sleep"], 2, ["| eat | sleep | "])
    assert line.font_attr_segs == {0: [(2, 5, [eat, "bold"]), (8, 13, ["gray"])]}
    sleep.enable()
    assert menu.format_as_single_line().font_attr_segs[0][1] == (6, 11, [sleep])
    assert menu.caption_to_item("eat").content == "eat -a"
    with pytest.raises(LookupError, match='no menu item with the caption "swim"'):
        menu.caption_to_item("swim")

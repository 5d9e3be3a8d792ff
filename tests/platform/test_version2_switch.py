"""Which of TensorFlow's versions a program is for."""

from everflow.platform import version2_switch


def test_the_environment_says_it_where_no_call_does(monkeypatch):
    monkeypatch.setattr(version2_switch, "_force_enable", None)
    monkeypatch.delenv("TF2_BEHAVIOR", raising=False)
    assert not version2_switch.enabled()
    monkeypatch.setenv("TF2_BEHAVIOR", "1")
    assert version2_switch.enabled()
    version2_switch.disable()
    assert not version2_switch.enabled()
    monkeypatch.setenv("TF2_BEHAVIOR", "0")
    version2_switch.enable()
    assert version2_switch.enabled()

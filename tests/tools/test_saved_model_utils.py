"""SavedModels read as protos."""

import pytest

import everflow as tf
from everflow.tools import saved_model_utils as reader


def test_the_tags_of_each_graph(tmp_path, session):
    folder = str(tmp_path / "model")
    builder = tf.saved_model.Builder(folder)
    v = tf.get_variable("v", initializer=1.0)
    session.run(v.initializer)
    builder.add_meta_graph_and_variables(session, ["train"])
    builder.add_meta_graph(["serve", "gpu"])
    builder.save()
    assert reader.get_saved_model_tag_sets(folder) == [["train"], ["serve", "gpu"]]
    assert len(reader.read_saved_model(folder).meta_graphs) == 2
    assert list(reader.get_meta_graph_def(folder, "gpu,serve").meta_info_def.tags) == ["serve", "gpu"]
    with pytest.raises(RuntimeError, match="tag-set gpu could not be found"):
        reader.get_meta_graph_def(folder, "gpu")
    with pytest.raises(OSError, match="SavedModel file does not exist at: "):
        reader.read_saved_model(str(tmp_path / "none"))

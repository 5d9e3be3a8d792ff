"""tf.contrib.learn.utils.gc: which exports stay, by the functions of tf.estimator."""

from __future__ import annotations

from everflow.contrib.learn.publishing import learn
from everflow.estimator import kept_exports

for _name in ("Path", "largest_export_versions", "one_of_every_n_export_versions", "mod_export_version", "union", "negation", "get_paths"):
    learn("utils.gc", _name)(getattr(kept_exports, _name))

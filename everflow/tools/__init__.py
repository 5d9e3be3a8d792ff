"""Programs around models: freezing, stripping, inspecting. Also found as `tensorflow.python.tools.*`."""

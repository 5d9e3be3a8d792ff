"""A model server: TensorFlow Serving's protocol, versions and flags, on our sessions."""

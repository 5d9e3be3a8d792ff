"""Ops written in C++ against TensorFlow's headers: compiled with `tf.sysconfig`'s flags, loaded by `tf.load_op_library`.

`definitions` reads what REGISTER_OP says, `framework` speaks to the library that such ops link with (`native/framework`), and `library`
makes ops of both.
"""

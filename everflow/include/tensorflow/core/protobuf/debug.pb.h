// The messages of tensorflow/core/protobuf/debug.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_DEBUG_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_DEBUG_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class DebugTensorWatch;
class DebugOptions;
class DebuggedSourceFile;
class DebuggedSourceFiles;

class DebugTensorWatch final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DebugTensorWatch, "tensorflow.DebugTensorWatch")
    EVERFLOW_TEXT(node_name)
    EVERFLOW_NUMBER(::google::protobuf::int32, output_slot)
    EVERFLOW_TEXTS(debug_ops)
    EVERFLOW_TEXTS(debug_urls)
    EVERFLOW_NUMBER(bool, tolerate_debug_op_creation_failures)
};

class DebugOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DebugOptions, "tensorflow.DebugOptions")
    EVERFLOW_SEVERAL(::tensorflow::DebugTensorWatch, debug_tensor_watch_opts)
    EVERFLOW_NUMBER(::google::protobuf::int64, global_step)
    EVERFLOW_NUMBER(bool, reset_disk_byte_usage)
};

class DebuggedSourceFile final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DebuggedSourceFile, "tensorflow.DebuggedSourceFile")
    EVERFLOW_TEXT(host)
    EVERFLOW_TEXT(file_path)
    EVERFLOW_NUMBER(::google::protobuf::int64, last_modified)
    EVERFLOW_NUMBER(::google::protobuf::int64, bytes)
    EVERFLOW_TEXTS(lines)
};

class DebuggedSourceFiles final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DebuggedSourceFiles, "tensorflow.DebuggedSourceFiles")
    EVERFLOW_SEVERAL(::tensorflow::DebuggedSourceFile, source_files)
};

}  // namespace tensorflow

#endif

// The messages of tensorflow_serving/apis/status.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_STATUS_PB_H_
#define TENSORFLOW_SERVING_APIS_STATUS_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/lib/core/error_codes.pb.h"

namespace tensorflow {
namespace serving {

class StatusProto;

class StatusProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(StatusProto, "tensorflow.serving.StatusProto")
    EVERFLOW_ENUM(::tensorflow::error::Code, error_code)
    EVERFLOW_TEXT(error_message)
};

}  // namespace serving
}  // namespace tensorflow

#endif

// The messages of tensorflow/core/framework/kernel_def.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_KERNEL_DEF_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_KERNEL_DEF_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/attr_value.pb.h"

namespace tensorflow {

class KernelDef_AttrConstraint;
class KernelDef;
class KernelList;

class KernelDef_AttrConstraint final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(KernelDef_AttrConstraint, "tensorflow.KernelDef.AttrConstraint")
    EVERFLOW_TEXT(name)
    EVERFLOW_ONE(::tensorflow::AttrValue, allowed_values)
};

class KernelDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(KernelDef, "tensorflow.KernelDef")
    typedef KernelDef_AttrConstraint AttrConstraint;
    EVERFLOW_TEXT(op)
    EVERFLOW_TEXT(device_type)
    EVERFLOW_SEVERAL(::tensorflow::KernelDef_AttrConstraint, constraint)
    EVERFLOW_TEXTS(host_memory_arg)
    EVERFLOW_TEXT(label)
    EVERFLOW_NUMBER(::google::protobuf::int32, priority)
};

class KernelList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(KernelList, "tensorflow.KernelList")
    EVERFLOW_SEVERAL(::tensorflow::KernelDef, kernel)
};

}  // namespace tensorflow

#endif

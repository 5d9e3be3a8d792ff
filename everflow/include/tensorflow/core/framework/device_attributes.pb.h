// The messages of tensorflow/core/framework/device_attributes.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DEVICE_ATTRIBUTES_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_DEVICE_ATTRIBUTES_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class InterconnectLink;
class LocalLinks;
class DeviceLocality;
class DeviceAttributes;

class InterconnectLink final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(InterconnectLink, "tensorflow.InterconnectLink")
    EVERFLOW_NUMBER(::google::protobuf::int32, device_id)
    EVERFLOW_TEXT(type)
    EVERFLOW_NUMBER(::google::protobuf::int32, strength)
};

class LocalLinks final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(LocalLinks, "tensorflow.LocalLinks")
    EVERFLOW_SEVERAL(::tensorflow::InterconnectLink, link)
};

class DeviceLocality final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DeviceLocality, "tensorflow.DeviceLocality")
    EVERFLOW_NUMBER(::google::protobuf::int32, bus_id)
    EVERFLOW_NUMBER(::google::protobuf::int32, numa_node)
    EVERFLOW_ONE(::tensorflow::LocalLinks, links)
};

class DeviceAttributes final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DeviceAttributes, "tensorflow.DeviceAttributes")
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(device_type)
    EVERFLOW_NUMBER(::google::protobuf::int64, memory_limit)
    EVERFLOW_ONE(::tensorflow::DeviceLocality, locality)
    EVERFLOW_NUMBER(::google::protobuf::uint64, incarnation)
    EVERFLOW_TEXT(physical_device_desc)
};

}  // namespace tensorflow

#endif

// The messages of tensorflow/core/protobuf/verifier_config.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_VERIFIER_CONFIG_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_VERIFIER_CONFIG_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class VerifierConfig;

enum VerifierConfig_Toggle : int {
    VerifierConfig_Toggle_DEFAULT = 0,
    VerifierConfig_Toggle_ON = 1,
    VerifierConfig_Toggle_OFF = 2,
};
const VerifierConfig_Toggle VerifierConfig_Toggle_VerifierConfig_Toggle_MIN = static_cast<VerifierConfig_Toggle>(0);
const VerifierConfig_Toggle VerifierConfig_Toggle_VerifierConfig_Toggle_MAX = static_cast<VerifierConfig_Toggle>(2);
const ::google::protobuf::EnumName* VerifierConfig_Toggle_names();
inline std::string VerifierConfig_Toggle_Name(int value) { return ::google::protobuf::NameOfEnum(VerifierConfig_Toggle_names(), value); }
inline bool VerifierConfig_Toggle_IsValid(int value) { return !VerifierConfig_Toggle_Name(value).empty(); }
inline bool VerifierConfig_Toggle_Parse(const std::string& name, VerifierConfig_Toggle* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(VerifierConfig_Toggle_names(), name, &number);
    if (known) *value = static_cast<VerifierConfig_Toggle>(number);
    return known;
}

class VerifierConfig final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(VerifierConfig, "tensorflow.VerifierConfig")
    typedef VerifierConfig_Toggle Toggle;
    static constexpr Toggle DEFAULT = VerifierConfig_Toggle_DEFAULT;
    static constexpr Toggle ON = VerifierConfig_Toggle_ON;
    static constexpr Toggle OFF = VerifierConfig_Toggle_OFF;
    EVERFLOW_NUMBER(::google::protobuf::int64, verification_timeout_in_ms)
    EVERFLOW_ENUM(::tensorflow::VerifierConfig_Toggle, structure_verifier)
};

}  // namespace tensorflow

#endif

// The messages of tensorflow/core/protobuf/saver.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_SAVER_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_SAVER_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class SaverDef;

enum SaverDef_CheckpointFormatVersion : int {
    SaverDef_CheckpointFormatVersion_LEGACY = 0,
    SaverDef_CheckpointFormatVersion_V1 = 1,
    SaverDef_CheckpointFormatVersion_V2 = 2,
};
const SaverDef_CheckpointFormatVersion SaverDef_CheckpointFormatVersion_SaverDef_CheckpointFormatVersion_MIN = static_cast<SaverDef_CheckpointFormatVersion>(0);
const SaverDef_CheckpointFormatVersion SaverDef_CheckpointFormatVersion_SaverDef_CheckpointFormatVersion_MAX = static_cast<SaverDef_CheckpointFormatVersion>(2);
const ::google::protobuf::EnumName* SaverDef_CheckpointFormatVersion_names();
inline std::string SaverDef_CheckpointFormatVersion_Name(int value) { return ::google::protobuf::NameOfEnum(SaverDef_CheckpointFormatVersion_names(), value); }
inline bool SaverDef_CheckpointFormatVersion_IsValid(int value) { return !SaverDef_CheckpointFormatVersion_Name(value).empty(); }
inline bool SaverDef_CheckpointFormatVersion_Parse(const std::string& name, SaverDef_CheckpointFormatVersion* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(SaverDef_CheckpointFormatVersion_names(), name, &number);
    if (known) *value = static_cast<SaverDef_CheckpointFormatVersion>(number);
    return known;
}

class SaverDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SaverDef, "tensorflow.SaverDef")
    typedef SaverDef_CheckpointFormatVersion CheckpointFormatVersion;
    static constexpr CheckpointFormatVersion LEGACY = SaverDef_CheckpointFormatVersion_LEGACY;
    static constexpr CheckpointFormatVersion V1 = SaverDef_CheckpointFormatVersion_V1;
    static constexpr CheckpointFormatVersion V2 = SaverDef_CheckpointFormatVersion_V2;
    EVERFLOW_TEXT(filename_tensor_name)
    EVERFLOW_TEXT(save_tensor_name)
    EVERFLOW_TEXT(restore_op_name)
    EVERFLOW_NUMBER(::google::protobuf::int32, max_to_keep)
    EVERFLOW_NUMBER(bool, sharded)
    EVERFLOW_NUMBER(float, keep_checkpoint_every_n_hours)
    EVERFLOW_ENUM(::tensorflow::SaverDef_CheckpointFormatVersion, version)
};

}  // namespace tensorflow

#endif

// The messages of tensorflow/core/framework/summary.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_SUMMARY_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_SUMMARY_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor.pb.h"

namespace tensorflow {

class SummaryDescription;
class HistogramProto;
class SummaryMetadata_PluginData;
class SummaryMetadata;
class Summary_Image;
class Summary_Audio;
class Summary_Value;
class Summary;

class SummaryDescription final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SummaryDescription, "tensorflow.SummaryDescription")
    EVERFLOW_TEXT(type_hint)
};

class HistogramProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(HistogramProto, "tensorflow.HistogramProto")
    EVERFLOW_NUMBER(double, min)
    EVERFLOW_NUMBER(double, max)
    EVERFLOW_NUMBER(double, num)
    EVERFLOW_NUMBER(double, sum)
    EVERFLOW_NUMBER(double, sum_squares)
    EVERFLOW_NUMBERS(double, bucket_limit)
    EVERFLOW_NUMBERS(double, bucket)
};

class SummaryMetadata_PluginData final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SummaryMetadata_PluginData, "tensorflow.SummaryMetadata.PluginData")
    EVERFLOW_TEXT(plugin_name)
    EVERFLOW_TEXT(content)
};

class SummaryMetadata final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SummaryMetadata, "tensorflow.SummaryMetadata")
    typedef SummaryMetadata_PluginData PluginData;
    EVERFLOW_ONE(::tensorflow::SummaryMetadata_PluginData, plugin_data)
    EVERFLOW_TEXT(display_name)
    EVERFLOW_TEXT(summary_description)
};

class Summary_Image final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Summary_Image, "tensorflow.Summary.Image")
    EVERFLOW_NUMBER(::google::protobuf::int32, height)
    EVERFLOW_NUMBER(::google::protobuf::int32, width)
    EVERFLOW_NUMBER(::google::protobuf::int32, colorspace)
    EVERFLOW_TEXT(encoded_image_string)
};

class Summary_Audio final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Summary_Audio, "tensorflow.Summary.Audio")
    EVERFLOW_NUMBER(float, sample_rate)
    EVERFLOW_NUMBER(::google::protobuf::int64, num_channels)
    EVERFLOW_NUMBER(::google::protobuf::int64, length_frames)
    EVERFLOW_TEXT(encoded_audio_string)
    EVERFLOW_TEXT(content_type)
};

class Summary_Value final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Summary_Value, "tensorflow.Summary.Value")
    enum ValueCase { kSimpleValue = 2, kObsoleteOldStyleHistogram = 3, kImage = 4, kHisto = 5, kAudio = 6, kTensor = 8, VALUE_NOT_SET = 0 };
    EVERFLOW_CHOICE(value, ValueCase)
    EVERFLOW_TEXT(tag)
    EVERFLOW_CHOICE_NUMBER(value, kSimpleValue, float, simple_value)
    EVERFLOW_CHOICE_TEXT(value, kObsoleteOldStyleHistogram, obsolete_old_style_histogram)
    EVERFLOW_CHOICE_ONE(value, kImage, ::tensorflow::Summary_Image, image)
    EVERFLOW_CHOICE_ONE(value, kHisto, ::tensorflow::HistogramProto, histo)
    EVERFLOW_CHOICE_ONE(value, kAudio, ::tensorflow::Summary_Audio, audio)
    EVERFLOW_TEXT(node_name)
    EVERFLOW_CHOICE_ONE(value, kTensor, ::tensorflow::TensorProto, tensor)
    EVERFLOW_ONE(::tensorflow::SummaryMetadata, metadata)
};

class Summary final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Summary, "tensorflow.Summary")
    typedef Summary_Image Image;
    typedef Summary_Audio Audio;
    typedef Summary_Value Value;
    EVERFLOW_SEVERAL(::tensorflow::Summary_Value, value)
};

}  // namespace tensorflow

#endif

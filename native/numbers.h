// Numbers read from text, by TensorFlow's rules of what a number looks like.
#pragma once

#include <cstdint>
#include <string_view>

namespace everflow {

// Each says whether the text is a number of its type, with blanks around it or not.
bool read_number(std::string_view text, float& number);
bool read_number(std::string_view text, double& number);
bool read_number(std::string_view text, int32_t& number);
bool read_number(std::string_view text, int64_t& number);

}  // namespace everflow

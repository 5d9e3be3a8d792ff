// The numbers of TensorFlow's DataType that the parsers deal with.
#pragma once

namespace everflow {

enum DataType { kNone = 0, kFloat = 1, kDouble = 2, kInt32 = 3, kString = 7, kInt64 = 9 };

}  // namespace everflow

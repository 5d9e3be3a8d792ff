#include "tensorflow/core/lib/gtl/array_slice.h"

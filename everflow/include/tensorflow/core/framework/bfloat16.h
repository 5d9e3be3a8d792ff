#include "tensorflow/core/framework/numeric_types.h"

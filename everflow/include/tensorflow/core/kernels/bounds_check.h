#include "tensorflow/core/framework/bounds_check.h"

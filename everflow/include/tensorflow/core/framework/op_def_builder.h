#include "tensorflow/core/framework/op.h"

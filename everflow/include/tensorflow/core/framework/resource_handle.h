#include "tensorflow/core/framework/resource_mgr.h"

#include "google/protobuf/message.h"

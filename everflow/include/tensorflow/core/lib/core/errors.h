// Statuses of each kind: errors::InvalidArgument("got ", n, " rows").
#ifndef TENSORFLOW_CORE_LIB_CORE_ERRORS_H_
#define TENSORFLOW_CORE_LIB_CORE_ERRORS_H_

#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/lib/strings/strcat.h"

namespace tensorflow {
namespace errors {

#define EVERFLOW_ERROR(Name, CODE)                                      \
    template <typename... Parts>                                        \
    Status Name(const Parts&... parts) {                                \
        return Status(::tensorflow::error::CODE, strings::StrCat(parts...)); \
    }                                                                   \
    inline bool Is##Name(const Status& status) { return status.code() == ::tensorflow::error::CODE; }
EVERFLOW_ERROR(Cancelled, CANCELLED)
EVERFLOW_ERROR(InvalidArgument, INVALID_ARGUMENT)
EVERFLOW_ERROR(NotFound, NOT_FOUND)
EVERFLOW_ERROR(AlreadyExists, ALREADY_EXISTS)
EVERFLOW_ERROR(ResourceExhausted, RESOURCE_EXHAUSTED)
EVERFLOW_ERROR(Unavailable, UNAVAILABLE)
EVERFLOW_ERROR(FailedPrecondition, FAILED_PRECONDITION)
EVERFLOW_ERROR(OutOfRange, OUT_OF_RANGE)
EVERFLOW_ERROR(Unimplemented, UNIMPLEMENTED)
EVERFLOW_ERROR(Internal, INTERNAL)
EVERFLOW_ERROR(Aborted, ABORTED)
EVERFLOW_ERROR(DeadlineExceeded, DEADLINE_EXCEEDED)
EVERFLOW_ERROR(DataLoss, DATA_LOSS)
EVERFLOW_ERROR(Unknown, UNKNOWN)
EVERFLOW_ERROR(PermissionDenied, PERMISSION_DENIED)
EVERFLOW_ERROR(Unauthenticated, UNAUTHENTICATED)
#undef EVERFLOW_ERROR

template <typename... Parts>
void AppendToMessage(Status* status, const Parts&... parts) {
    *status = Status(status->code(), strings::StrCat(status->error_message(), "\n\t", parts...));
}

using ::tensorflow::error::OK;

}  // namespace errors
}  // namespace tensorflow

// Says where an error came from, behind what it says itself.
#define TF_RETURN_WITH_CONTEXT_IF_ERROR(expression, ...)                   \
    do {                                                                   \
        ::tensorflow::Status everflow_s_(expression);                      \
        if (TF_PREDICT_FALSE(!everflow_s_.ok())) {                         \
            ::tensorflow::errors::AppendToMessage(&everflow_s_, __VA_ARGS__); \
            return everflow_s_;                                            \
        }                                                                  \
    } while (0)

#endif

// What went wrong, or that nothing did.
#ifndef TENSORFLOW_CORE_LIB_CORE_STATUS_H_
#define TENSORFLOW_CORE_LIB_CORE_STATUS_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "tensorflow/core/lib/core/error_codes.pb.h"
#include "tensorflow/core/lib/core/stringpiece.h"
#include "tensorflow/core/platform/macros.h"

namespace tensorflow {
class Status {
public:
    Status() {}
    Status(error::Code code, StringPiece message) {
        if (code != error::OK) failure_.reset(new Failure{code, std::string(message)});
    }

    static Status OK() { return Status(); }

    bool ok() const { return !failure_; }
    error::Code code() const { return failure_ ? failure_->code : error::OK; }
    const std::string& error_message() const {
        static const std::string nothing;
        return failure_ ? failure_->message : nothing;
    }
    // "OK", or the kind of error and what is said of it: "Not found: no such file".
    std::string ToString() const;
    void Update(const Status& other) {
        if (ok()) *this = other;
    }
    void IgnoreError() const {}
    bool operator==(const Status& other) const { return code() == other.code() && error_message() == other.error_message(); }
    bool operator!=(const Status& other) const { return !(*this == other); }

private:
    struct Failure {
        error::Code code;
        std::string message;
    };
    std::shared_ptr<const Failure> failure_;
};

inline std::ostream& operator<<(std::ostream& out, const Status& status) { return out << status.ToString(); }

typedef std::function<void(const Status&)> StatusCallback;

// The words for a kind of error, such as "Not found".
std::string error_name(error::Code code);

}  // namespace tensorflow

#define TF_RETURN_IF_ERROR(...)                              \
    do {                                                     \
        const ::tensorflow::Status everflow_s_(__VA_ARGS__); \
        if (TF_PREDICT_FALSE(!everflow_s_.ok())) return everflow_s_; \
    } while (0)

#endif

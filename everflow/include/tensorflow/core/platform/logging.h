// LOG(INFO) << ... and CHECK(condition) << ...: lines on the standard error; FATAL and failed checks end the program.
#ifndef TENSORFLOW_CORE_PLATFORM_LOGGING_H_
#define TENSORFLOW_CORE_PLATFORM_LOGGING_H_

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "tensorflow/core/platform/macros.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

const int INFO = 0;
const int WARNING = 1;
const int ERROR = 2;
const int FATAL = 3;

namespace internal {

class LogLine {
public:
    LogLine(const char* file, int line, int severity) : severity_(severity) { text_ << "IWEF"[severity] << ' ' << file << ':' << line << "] "; }
    ~LogLine() {
        std::cerr << text_.str() + "\n";
        if (severity_ == FATAL) std::abort();
    }
    std::ostream& stream() { return text_; }

private:
    std::ostringstream text_;
    int severity_;
};

// Gives both branches of a condition the same type.
struct Nothing {
    void operator&(std::ostream&) {}
};

}  // namespace internal
}  // namespace tensorflow

#define LOG(severity) ::tensorflow::internal::LogLine(__FILE__, __LINE__, ::tensorflow::severity).stream()
#define VLOG_IS_ON(level) (false)
#define VLOG(level) true ? (void)0 : ::tensorflow::internal::Nothing() & LOG(INFO)
#define CHECK(condition) \
    (condition) ? (void)0 : ::tensorflow::internal::Nothing() & LOG(FATAL) << "Check failed: " #condition " "
#define EVERFLOW_CHECK_OP(a, op, b) CHECK((a)op(b))
#define CHECK_EQ(a, b) EVERFLOW_CHECK_OP(a, ==, b)
#define CHECK_NE(a, b) EVERFLOW_CHECK_OP(a, !=, b)
#define CHECK_LT(a, b) EVERFLOW_CHECK_OP(a, <, b)
#define CHECK_LE(a, b) EVERFLOW_CHECK_OP(a, <=, b)
#define CHECK_GT(a, b) EVERFLOW_CHECK_OP(a, >, b)
#define CHECK_GE(a, b) EVERFLOW_CHECK_OP(a, >=, b)
#define CHECK_NOTNULL(pointer) (pointer)
#ifdef NDEBUG
#define EVERFLOW_DCHECK(check) true ? (void)0 : check
#else
#define EVERFLOW_DCHECK(check) check
#endif
#define DCHECK(condition) EVERFLOW_DCHECK(CHECK(condition))
#define DCHECK_EQ(a, b) EVERFLOW_DCHECK(CHECK_EQ(a, b))
#define DCHECK_NE(a, b) EVERFLOW_DCHECK(CHECK_NE(a, b))
#define DCHECK_LT(a, b) EVERFLOW_DCHECK(CHECK_LT(a, b))
#define DCHECK_LE(a, b) EVERFLOW_DCHECK(CHECK_LE(a, b))
#define DCHECK_GT(a, b) EVERFLOW_DCHECK(CHECK_GT(a, b))
#define DCHECK_GE(a, b) EVERFLOW_DCHECK(CHECK_GE(a, b))
#define TF_CHECK_OK(...) CHECK((__VA_ARGS__).ok())

#endif

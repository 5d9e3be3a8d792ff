// REGISTER_OP("Name").Input("x: T").Output("y: T").Attr("T: {float, double}").SetShapeFn(...): an op says what it is.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_H_

#include <functional>
#include <string>
#include <vector>

#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/platform/macros.h"

namespace tensorflow {

typedef std::function<Status(shape_inference::InferenceContext*)> OpShapeInferenceFn;

// What was said of an op, word for word; Python makes a definition of it.
struct OpRegistration {
    std::string name, doc, deprecation;
    std::vector<std::string> attrs, inputs, outputs;
    bool is_commutative = false, is_aggregate = false, is_stateful = false, allows_uninitialized_input = false;
    int deprecated_since = 0;
    OpShapeInferenceFn shape_function;
};

// All ops that were registered.
class OpRegistry {
public:
    static OpRegistry* Global();
    // A line for each op, with what was said of it.
    std::string DebugString(bool include_internal) const;
};

namespace register_op {

class OpDefBuilderWrapper {
public:
    explicit OpDefBuilderWrapper(const char* name) { op_.name = name; }
    OpDefBuilderWrapper& Attr(std::string spec) { return op_.attrs.push_back(std::move(spec)), *this; }
    OpDefBuilderWrapper& Input(std::string spec) { return op_.inputs.push_back(std::move(spec)), *this; }
    OpDefBuilderWrapper& Output(std::string spec) { return op_.outputs.push_back(std::move(spec)), *this; }
    OpDefBuilderWrapper& Doc(std::string text) { return op_.doc = std::move(text), *this; }
    OpDefBuilderWrapper& Deprecated(int version, StringPiece why) {
        return op_.deprecated_since = version, op_.deprecation = std::string(why), *this;
    }
    OpDefBuilderWrapper& SetIsCommutative() { return op_.is_commutative = true, *this; }
    OpDefBuilderWrapper& SetIsAggregate() { return op_.is_aggregate = true, *this; }
    OpDefBuilderWrapper& SetIsStateful() { return op_.is_stateful = true, *this; }
    OpDefBuilderWrapper& SetAllowsUninitializedInput() { return op_.allows_uninitialized_input = true, *this; }
    OpDefBuilderWrapper& SetShapeFn(OpShapeInferenceFn f) { return op_.shape_function = std::move(f), *this; }
    const OpRegistration& op() const { return op_; }

private:
    OpRegistration op_;
};

// Hands the op over to the library that is being loaded.
struct OpDefBuilderReceiver {
    OpDefBuilderReceiver(const OpDefBuilderWrapper& wrapper);
};

}  // namespace register_op
}  // namespace tensorflow

#define REGISTER_OP(name) EVERFLOW_REGISTER_OP(__COUNTER__, name)
#define EVERFLOW_REGISTER_OP(number, name)                                                                       \
    static const ::tensorflow::register_op::OpDefBuilderReceiver EVERFLOW_JOINED(everflow_op_, number) TF_ATTRIBUTE_UNUSED = \
        ::tensorflow::register_op::OpDefBuilderWrapper(name)

#endif

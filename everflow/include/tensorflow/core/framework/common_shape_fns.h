// Shape functions that many ops share.
#ifndef TENSORFLOW_CORE_FRAMEWORK_COMMON_SHAPE_FNS_H_
#define TENSORFLOW_CORE_FRAMEWORK_COMMON_SHAPE_FNS_H_

#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace shape_inference {

// No output has a known shape.
Status UnknownShape(InferenceContext* c);
Status NoOutputs(InferenceContext* c);
Status ScalarShape(InferenceContext* c);
// The one output has the shape of the first input; ..WithRank asks that it has so many dimensions.
Status UnchangedShape(InferenceContext* c);
Status UnchangedShapeWithRank(InferenceContext* c, int32 rank);
Status UnchangedShapeWithRankAtLeast(InferenceContext* c, int32 rank);
// All inputs have the same shape, and so has the output.
Status MergeBothInputsShapeFn(InferenceContext* c);
Status BroadcastBinaryOpShapeFn(InferenceContext* c);
Status MatMulShape(InferenceContext* c);
Status ExplicitShape(InferenceContext* c);

}  // namespace shape_inference
}  // namespace tensorflow

#endif

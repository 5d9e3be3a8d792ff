// Names of signatures in a SavedModel, of what they do, and of their inputs and outputs.
#ifndef TENSORFLOW_CC_SAVED_MODEL_SIGNATURE_CONSTANTS_H_
#define TENSORFLOW_CC_SAVED_MODEL_SIGNATURE_CONSTANTS_H_

namespace tensorflow {

static constexpr char kDefaultServingSignatureDefKey[] = "serving_default";

static constexpr char kClassifyMethodName[] = "tensorflow/serving/classify";
static constexpr char kClassifyInputs[] = "inputs";
static constexpr char kClassifyOutputClasses[] = "classes";
static constexpr char kClassifyOutputScores[] = "scores";

static constexpr char kPredictMethodName[] = "tensorflow/serving/predict";
static constexpr char kPredictInputs[] = "inputs";
static constexpr char kPredictOutputs[] = "outputs";

static constexpr char kRegressMethodName[] = "tensorflow/serving/regress";
static constexpr char kRegressInputs[] = "inputs";
static constexpr char kRegressOutputs[] = "outputs";

}  // namespace tensorflow

#endif

// Tags of graphs in a SavedModel.
#ifndef TENSORFLOW_CC_SAVED_MODEL_TAG_CONSTANTS_H_
#define TENSORFLOW_CC_SAVED_MODEL_TAG_CONSTANTS_H_

namespace tensorflow {

constexpr char kSavedModelTagServe[] = "serve";
constexpr char kSavedModelTagTrain[] = "train";
constexpr char kSavedModelTagGpu[] = "gpu";
constexpr char kSavedModelTagTpu[] = "tpu";

}  // namespace tensorflow

#endif

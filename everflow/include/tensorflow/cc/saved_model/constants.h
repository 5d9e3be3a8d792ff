// Names of files and folders of a SavedModel.
#ifndef TENSORFLOW_CC_SAVED_MODEL_CONSTANTS_H_
#define TENSORFLOW_CC_SAVED_MODEL_CONSTANTS_H_

namespace tensorflow {

constexpr char kSavedModelAssetsDirectory[] = "assets";
constexpr char kSavedModelAssetsExtraDirectory[] = "assets.extra";
constexpr char kSavedModelFilenamePb[] = "saved_model.pb";
constexpr char kSavedModelFilenamePbTxt[] = "saved_model.pbtxt";
constexpr char kSavedModelVariablesDirectory[] = "variables";
constexpr char kSavedModelVariablesFilename[] = "variables";

}  // namespace tensorflow

#endif

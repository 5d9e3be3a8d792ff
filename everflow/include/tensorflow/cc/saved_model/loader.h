// SavedModels in C++: LoadSavedModel(options, run_options, folder, {kSavedModelTagServe}, &bundle).
#ifndef TENSORFLOW_CC_SAVED_MODEL_LOADER_H_
#define TENSORFLOW_CC_SAVED_MODEL_LOADER_H_

#include <memory>
#include <string>
#include <unordered_set>

#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/public/session.h"

namespace tensorflow {

// A session in which variables have the values that were saved, and what is known of the graph: its signatures.
struct SavedModelBundle {
    SavedModelBundle() {}
    ~SavedModelBundle();
    const protobuf::Map<std::string, SignatureDef>& GetSignatures() const { return meta_graph_def.signature_def(); }
    Session* GetSession() const { return session.get(); }

    std::unique_ptr<Session> session;
    MetaGraphDef meta_graph_def;

private:
    TF_DISALLOW_COPY_AND_ASSIGN(SavedModelBundle);
};

Status LoadSavedModel(const SessionOptions& session_options, const RunOptions& run_options, const std::string& export_dir,
                      const std::unordered_set<std::string>& tags, SavedModelBundle* bundle);

// Whether a folder holds a SavedModel, as far as can be seen from outside.
bool MaybeSavedModelDirectory(const std::string& export_dir);

}  // namespace tensorflow

#endif

// Running graphs from C++. Programs link with libtensorflow_cc and libtensorflow_framework.
#ifndef TENSORFLOW_CORE_PUBLIC_SESSION_H_
#define TENSORFLOW_CORE_PUBLIC_SESSION_H_

#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/device_attributes.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/public/session_options.h"

namespace tensorflow {

class DeviceMgr;

class Session {
public:
    typedef std::vector<std::pair<std::string, Tensor>> Feeds;
    typedef std::vector<std::string> Names;
    typedef int64 CallableHandle;

    Session();
    virtual ~Session();

    // Gives the session its graph, once; more nodes come with Extend.
    virtual Status Create(const GraphDef& graph) = 0;
    virtual Status Extend(const GraphDef& graph) = 0;
    virtual Status Create(const RunOptions& run_options, const GraphDef& graph);
    virtual Status Extend(const RunOptions& run_options, const GraphDef& graph);

    // Values of tensors, and nodes that are run for what they do. `outputs` may be null where no tensor is named.
    virtual Status Run(const Feeds& inputs, const Names& output_tensor_names, const Names& target_node_names, std::vector<Tensor>* outputs) = 0;
    virtual Status Run(const RunOptions& run_options, const Feeds& inputs, const Names& output_tensor_names, const Names& target_node_names,
                       std::vector<Tensor>* outputs, RunMetadata* run_metadata);

    // A run in parts: all that will be fed and fetched first, then some of it at a time.
    virtual Status PRunSetup(const Names& input_names, const Names& output_names, const Names& target_nodes, std::string* handle);
    virtual Status PRun(const std::string& handle, const Feeds& inputs, const Names& output_names, std::vector<Tensor>* outputs);

    // Feeds and fetches that are named once for many runs.
    virtual Status MakeCallable(const CallableOptions& callable_options, CallableHandle* out_handle);
    virtual Status RunCallable(CallableHandle handle, const std::vector<Tensor>& feed_tensors, std::vector<Tensor>* fetch_tensors, RunMetadata* run_metadata);
    virtual Status ReleaseCallable(CallableHandle handle);

    virtual Status ListDevices(std::vector<DeviceAttributes>* response) = 0;
    virtual Status LocalDeviceManager(const DeviceMgr** output);

    virtual Status Close() = 0;
    virtual Status Close(const RunOptions& run_options);
};

// A new session, or null where there is none to be had; the caller deletes it.
Session* NewSession(const SessionOptions& options);
Status NewSession(const SessionOptions& options, Session** out_session);
// Empties containers of a server.
Status Reset(const SessionOptions& options, const std::vector<std::string>& containers);

}  // namespace tensorflow

#endif

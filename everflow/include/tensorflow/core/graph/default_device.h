// Devices for all nodes of a graph that have none.
#ifndef TENSORFLOW_CORE_GRAPH_DEFAULT_DEVICE_H_
#define TENSORFLOW_CORE_GRAPH_DEFAULT_DEVICE_H_

#include <string>

#include "tensorflow/core/framework/graph.pb.h"

namespace tensorflow {
namespace graph {

inline void SetDefaultDevice(const std::string& device, GraphDef* graph_def) {
    for (NodeDef& node : *graph_def->mutable_node()) {
        if (node.device().empty()) node.set_device(device);
    }
}

}  // namespace graph
}  // namespace tensorflow

#endif

// What iterators tell about their costs. Pipelines are tuned by what is measured outside of C++, so that nothing is kept of it.
#ifndef TENSORFLOW_CORE_FRAMEWORK_MODEL_H_
#define TENSORFLOW_CORE_FRAMEWORK_MODEL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace data {
namespace model {

const int kAutotune = -1;

class Node {
public:
    struct Args {
        int64 id;
        std::string name;
        std::shared_ptr<Node> output;
    };
    explicit Node(Args args) : args_(std::move(args)) {}
    const std::string& name() const { return args_.name; }

private:
    Args args_;
};

inline std::shared_ptr<Node> MakeUnknownNode(Node::Args args) { return std::make_shared<Node>(std::move(args)); }
inline std::shared_ptr<Node> MakeSourceNode(Node::Args args) { return std::make_shared<Node>(std::move(args)); }
inline std::shared_ptr<Node> MakeKnownRatioNode(Node::Args args, double) { return std::make_shared<Node>(std::move(args)); }
inline std::shared_ptr<Node> MakeUnknownRatioNode(Node::Args args) { return std::make_shared<Node>(std::move(args)); }
inline std::shared_ptr<Node> MakeInterleaveManyNode(Node::Args args) { return std::make_shared<Node>(std::move(args)); }

}  // namespace model
}  // namespace data
}  // namespace tensorflow

#endif

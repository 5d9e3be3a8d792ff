// tensorflow::Session over the C API's sessions, which know nodes by name.
#include "tensorflow/core/public/session.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

#include "tensorflow/c/c_api.h"
#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {
namespace {

// What the C API says, for one call.
class Said {
public:
    Said() : status_(TF_NewStatus()) {}
    ~Said() { TF_DeleteStatus(status_); }
    operator TF_Status*() { return status_; }
    Status status() const { return Status(static_cast<error::Code>(TF_GetCode(status_)), TF_Message(status_)); }

private:
    TF_Status* status_;
    TF_DISALLOW_COPY_AND_ASSIGN(Said);
};

struct Bytes {
    explicit Bytes(const protobuf::Message& message) : Bytes(message.SerializeAsString()) {}
    explicit Bytes(const std::string& content) : buffer(TF_NewBufferFromString(content.data(), content.size())) {}
    Bytes() : buffer(TF_NewBuffer()) {}
    ~Bytes() { TF_DeleteBuffer(buffer); }
    bool ReadInto(protobuf::Message* message) const { return message->ParseFromArray(buffer->data, static_cast<int>(buffer->length)); }

    TF_Buffer* buffer;
    TF_DISALLOW_COPY_AND_ASSIGN(Bytes);
};

struct Options {
    explicit Options(const SessionOptions& given, TF_Status* status) : options(TF_NewSessionOptions()) {
        const std::string config = given.config.SerializeAsString();
        TF_SetTarget(options, given.target.c_str());
        TF_SetConfig(options, config.data(), config.size(), status);
    }
    ~Options() { TF_DeleteSessionOptions(options); }

    TF_SessionOptions* options;
    TF_DISALLOW_COPY_AND_ASSIGN(Options);
};

// -- tensors. C takes and gives memory as it is; but for texts, which it has in another form.

void nothing(void*, size_t, void*) {}

TF_Tensor* to_c(const Tensor& tensor, TF_Status* status) {
    const std::vector<int64_t> dims(tensor.shape().begin(), tensor.shape().end());
    const int rank = static_cast<int>(dims.size());
    const auto type = static_cast<TF_DataType>(tensor.dtype());
    if (tensor.dtype() != DT_STRING) return TF_NewTensor(type, dims.data(), rank, tensor.raw_data(), tensor.TotalBytes(), nothing, nullptr);
    const auto* texts = static_cast<const std::string*>(tensor.raw_data());
    const size_t count = static_cast<size_t>(tensor.NumElements()), head = count * sizeof(uint64_t);
    size_t size = head;
    for (size_t i = 0; i < count; ++i) size += TF_StringEncodedSize(texts[i].size());
    TF_Tensor* made = TF_AllocateTensor(type, dims.data(), rank, size);
    char* const data = static_cast<char*>(TF_TensorData(made));
    size_t at = head;
    for (size_t i = 0; i < count; ++i) {
        const uint64_t place = at - head;
        std::memcpy(data + i * sizeof place, &place, sizeof place);
        at += TF_StringEncode(texts[i].data(), texts[i].size(), data + at, size - at, status);
    }
    return made;
}

// Takes the tensor over.
Status from_c(TF_Tensor* given, Tensor* made, TF_Status* status) {
    TensorShape shape;
    for (int d = 0; d < TF_NumDims(given); ++d) shape.AddDim(TF_Dim(given, d));
    const auto type = static_cast<DataType>(TF_TensorType(given));
    const auto release = [](void* tensor) { TF_DeleteTensor(static_cast<TF_Tensor*>(tensor)); };
    const std::shared_ptr<TensorBuffer> buffer = std::make_shared<TensorBuffer>(TF_TensorData(given), TF_TensorByteSize(given), release, given);
    if (type != DT_STRING) {
        *made = Tensor(type, shape, buffer, buffer->data());
        return Status::OK();
    }
    *made = Tensor(DT_STRING, shape);
    auto* const texts = static_cast<std::string*>(made->raw_data());
    const size_t count = static_cast<size_t>(shape.num_elements()), head = count * sizeof(uint64_t);
    const char* const data = static_cast<const char*>(buffer->data());
    for (size_t i = 0; i < count; ++i) {
        uint64_t place = 0;
        std::memcpy(&place, data + i * sizeof place, sizeof place);
        const char* text = nullptr;
        size_t size = 0;
        TF_StringDecode(data + head + place, buffer->size() - head - place, &text, &size, status);
        if (TF_GetCode(status) != TF_OK) return errors::Internal(TF_Message(status));
        texts[i].assign(text, size);
    }
    return Status::OK();
}

std::vector<const char*> addresses(const Session::Names& names) {
    std::vector<const char*> all;
    for (const std::string& name : names) all.push_back(name.c_str());
    return all;
}

// What is fed, as C takes it.
struct Fed {
    Fed(const Session::Feeds& feeds, TF_Status* status) {
        for (const auto& feed : feeds) names.push_back(feed.first.c_str()), tensors.push_back(to_c(feed.second, status));
    }
    ~Fed() {
        for (TF_Tensor* tensor : tensors) TF_DeleteTensor(tensor);
    }
    int size() const { return static_cast<int>(names.size()); }

    std::vector<const char*> names;
    std::vector<TF_Tensor*> tensors;
    TF_DISALLOW_COPY_AND_ASSIGN(Fed);
};

class OverC : public Session {
public:
    OverC(TF_DeprecatedSession* session, TF_Graph* graph) : session_(session), graph_(graph), created_(graph != nullptr) {}
    ~OverC() override {
        Said said;
        TF_DeleteDeprecatedSession(session_, said);
        if (graph_) TF_DeleteGraph(graph_);
    }

    Status Create(const GraphDef& graph) override {
        TF_RETURN_IF_ERROR(Open());
        if (!graph.node_size()) return Status::OK();
        {
            mutex_lock lock(lock_);
            if (created_) return errors::AlreadyExists("A Graph has already been created for this session.");
        }
        return Extend(graph);
    }

    Status Extend(const GraphDef& graph) override {
        TF_RETURN_IF_ERROR(Open());
        const std::string bytes = graph.SerializeAsString();
        Said said;
        TF_ExtendGraph(session_, bytes.data(), bytes.size(), said);
        if (said.status().ok()) created_ = true;
        return said.status();
    }

    Status Run(const Feeds& inputs, const Names& output_tensor_names, const Names& target_node_names, std::vector<Tensor>* outputs) override {
        return RunWith(nullptr, inputs, output_tensor_names, target_node_names, outputs, nullptr);
    }
    Status Run(const RunOptions& run_options, const Feeds& inputs, const Names& output_tensor_names, const Names& target_node_names,
               std::vector<Tensor>* outputs, RunMetadata* run_metadata) override {
        return RunWith(&run_options, inputs, output_tensor_names, target_node_names, outputs, run_metadata);
    }

    Status PRunSetup(const Names& input_names, const Names& output_names, const Names& target_nodes, std::string* handle) override {
        TF_RETURN_IF_ERROR(Ready());
        std::vector<const char*> inputs = addresses(input_names), outputs = addresses(output_names), targets = addresses(target_nodes);
        const char* made = nullptr;
        Said said;
        TF_PRunSetup(session_, inputs.data(), static_cast<int>(inputs.size()), outputs.data(), static_cast<int>(outputs.size()), targets.data(),
                     static_cast<int>(targets.size()), &made, said);
        if (made) *handle = made, TF_DeletePRunHandle(made);
        return said.status();
    }

    Status PRun(const std::string& handle, const Feeds& inputs, const Names& output_names, std::vector<Tensor>* outputs) override {
        TF_RETURN_IF_ERROR(Ready());
        Said said;
        Fed fed(inputs, said);
        std::vector<const char*> wanted = addresses(output_names);
        std::vector<TF_Tensor*> found(wanted.size(), nullptr);
        TF_PRun(session_, handle.c_str(), fed.names.data(), fed.tensors.data(), fed.size(), wanted.data(), found.data(), static_cast<int>(found.size()),
                nullptr, 0, said);
        TF_RETURN_IF_ERROR(said.status());
        return Take(found, outputs);
    }

    Status MakeCallable(const CallableOptions& callable_options, CallableHandle* out_handle) override {
        TF_RETURN_IF_ERROR(Ready());
        mutex_lock lock(lock_);
        *out_handle = next_callable_++;
        callables_[*out_handle] = callable_options;
        return Status::OK();
    }

    Status RunCallable(CallableHandle handle, const std::vector<Tensor>& feed_tensors, std::vector<Tensor>* fetch_tensors, RunMetadata* run_metadata) override {
        CallableOptions options;
        {
            mutex_lock lock(lock_);
            const auto found = callables_.find(handle);
            if (found == callables_.end()) return errors::InvalidArgument("No such callable handle: ", handle);
            options = found->second;
        }
        if (static_cast<size_t>(options.feed_size()) != feed_tensors.size()) {
            return errors::InvalidArgument("Expected ", options.feed_size(), " feed tensors, but got ", feed_tensors.size());
        }
        Feeds feeds;
        for (size_t i = 0; i < feed_tensors.size(); ++i) feeds.emplace_back(options.feed(static_cast<int>(i)), feed_tensors[i]);
        return RunWith(&options.run_options(), feeds, Names(options.fetch().begin(), options.fetch().end()),
                       Names(options.target().begin(), options.target().end()), fetch_tensors, run_metadata);
    }

    Status ReleaseCallable(CallableHandle handle) override {
        mutex_lock lock(lock_);
        return callables_.erase(handle) ? Status::OK() : errors::InvalidArgument("No such callable handle: ", handle);
    }

    Status ListDevices(std::vector<DeviceAttributes>* response) override {
        TF_RETURN_IF_ERROR(Open());
        Said said;
        TF_DeviceList* devices = TF_DeprecatedSessionListDevices(session_, said);
        TF_RETURN_IF_ERROR(said.status());
        response->clear();
        for (int i = 0, n = TF_DeviceListCount(devices); i < n; ++i) {
            response->emplace_back();
            response->back().set_name(TF_DeviceListName(devices, i, said));
            response->back().set_device_type(TF_DeviceListType(devices, i, said));
            response->back().set_memory_limit(TF_DeviceListMemoryBytes(devices, i, said));
            response->back().set_incarnation(TF_DeviceListIncarnation(devices, i, said));
        }
        TF_DeleteDeviceList(devices);
        return said.status();
    }

    Status Close() override {
        if (closed_.exchange(true)) return Status::OK();
        Said said;
        TF_CloseDeprecatedSession(session_, said);
        return said.status();
    }

private:
    Status Open() const { return closed_ ? errors::Cancelled("Session has been closed.") : Status::OK(); }
    Status Ready() const {
        TF_RETURN_IF_ERROR(Open());
        return created_ ? Status::OK() : errors::InvalidArgument("Session was not created with a graph before Run()!");
    }

    Status RunWith(const RunOptions* options, const Feeds& inputs, const Names& output_names, const Names& target_names, std::vector<Tensor>* outputs,
                   RunMetadata* metadata) {
        TF_RETURN_IF_ERROR(Ready());
        Said said;
        Fed fed(inputs, said);
        std::vector<const char*> wanted = addresses(output_names), targets = addresses(target_names);
        std::vector<TF_Tensor*> found(wanted.size(), nullptr);
        const Bytes given(options ? options->SerializeAsString() : std::string()), told;
        TF_Run(session_, options ? given.buffer : nullptr, fed.names.data(), fed.tensors.data(), fed.size(), wanted.data(), found.data(),
               static_cast<int>(found.size()), targets.data(), static_cast<int>(targets.size()), metadata ? told.buffer : nullptr, said);
        TF_RETURN_IF_ERROR(said.status());
        if (metadata && !told.ReadInto(metadata)) return errors::Internal("Unparseable RunMetadata proto");
        return Take(found, outputs);
    }

    static Status Take(const std::vector<TF_Tensor*>& found, std::vector<Tensor>* outputs) {
        if (outputs) outputs->clear();
        Status status;
        Said said;
        for (TF_Tensor* tensor : found) {
            Tensor made;
            status.Update(from_c(tensor, &made, said));
            if (outputs) outputs->push_back(made);
        }
        return status;
    }

    TF_DeprecatedSession* const session_;
    // What a SavedModel was loaded into.
    TF_Graph* const graph_;
    std::atomic<bool> created_, closed_{false};
    mutex lock_;
    std::map<CallableHandle, CallableOptions> callables_;
    CallableHandle next_callable_ = 1;
};

}  // namespace

Session::Session() {}
Session::~Session() {}

Status Session::Create(const RunOptions&, const GraphDef& graph) { return Create(graph); }
Status Session::Extend(const RunOptions&, const GraphDef& graph) { return Extend(graph); }
Status Session::Close(const RunOptions&) { return Close(); }
Status Session::Run(const RunOptions&, const Feeds&, const Names&, const Names&, std::vector<Tensor>*, RunMetadata*) {
    return errors::Unimplemented("Run with options is not supported for this session.");
}
Status Session::PRunSetup(const Names&, const Names&, const Names&, std::string*) {
    return errors::Unimplemented("Partial run is not supported for this session.");
}
Status Session::PRun(const std::string&, const Feeds&, const Names&, std::vector<Tensor>*) {
    return errors::Unimplemented("Partial run is not supported for this session.");
}
Status Session::MakeCallable(const CallableOptions&, CallableHandle*) { return errors::Unimplemented("MakeCallable is not supported for this session."); }
Status Session::RunCallable(CallableHandle, const std::vector<Tensor>&, std::vector<Tensor>*, RunMetadata*) {
    return errors::Unimplemented("RunCallable is not supported for this session.");
}
Status Session::ReleaseCallable(CallableHandle) { return errors::Unimplemented("ReleaseCallable is not supported for this session."); }
Status Session::LocalDeviceManager(const DeviceMgr**) { return errors::Unimplemented("LocalDeviceManager is not supported for this session."); }

Status NewSession(const SessionOptions& options, Session** out_session) {
    *out_session = nullptr;
    Said said;
    const Options given(options, said);
    TF_RETURN_IF_ERROR(said.status());
    TF_DeprecatedSession* session = TF_NewDeprecatedSession(given.options, said);
    TF_RETURN_IF_ERROR(said.status());
    *out_session = new OverC(session, nullptr);
    return Status::OK();
}

Session* NewSession(const SessionOptions& options) {
    Session* session = nullptr;
    const Status status = NewSession(options, &session);
    if (!status.ok()) LOG(ERROR) << "Failed to create session: " << status;
    return session;
}

Status Reset(const SessionOptions& options, const std::vector<std::string>& containers) {
    Said said;
    const Options given(options, said);
    TF_RETURN_IF_ERROR(said.status());
    std::vector<const char*> names = addresses(containers);
    TF_Reset(given.options, names.data(), static_cast<int>(names.size()), said);
    return said.status();
}

// -- SavedModels

SavedModelBundle::~SavedModelBundle() {
    if (session) session->Close().IgnoreError();
}

Status LoadSavedModel(const SessionOptions& session_options, const RunOptions& run_options, const std::string& export_dir,
                      const std::unordered_set<std::string>& tags, SavedModelBundle* bundle) {
    Said said;
    const Options given(session_options, said);
    TF_RETURN_IF_ERROR(said.status());
    std::vector<std::string> sorted(tags.begin(), tags.end());
    std::sort(sorted.begin(), sorted.end());
    const std::vector<const char*> names = addresses(sorted);
    const Bytes options(run_options), meta_graph;
    TF_Graph* graph = TF_NewGraph();
    TF_Session* session = TF_LoadSessionFromSavedModel(given.options, options.buffer, export_dir.c_str(), names.data(), static_cast<int>(names.size()), graph,
                                                       meta_graph.buffer, said);
    if (!said.status().ok()) {
        TF_DeleteGraph(graph);
        return said.status();
    }
    // Behind both kinds of sessions there is the same, which knows its operations by their names.
    bundle->session.reset(new OverC(reinterpret_cast<TF_DeprecatedSession*>(session), graph));
    return meta_graph.ReadInto(&bundle->meta_graph_def) ? Status::OK() : errors::Internal("Unparseable MetaGraphDef proto");
}

bool MaybeSavedModelDirectory(const std::string& export_dir) {
    Env* const env = Env::Default();
    return env->FileExists(io::JoinPath(export_dir, kSavedModelFilenamePb)).ok() || env->FileExists(io::JoinPath(export_dir, kSavedModelFilenamePbTxt)).ok();
}

}  // namespace tensorflow

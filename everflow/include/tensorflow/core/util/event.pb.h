// The messages of tensorflow/core/util/event.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_UTIL_EVENT_PB_H_
#define TENSORFLOW_CORE_UTIL_EVENT_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/summary.pb.h"

namespace tensorflow {

class Event;
class LogMessage;
class SessionLog;
class TaggedRunMetadata;
class WatchdogConfig;
class WorkerHeartbeatRequest;
class WorkerHeartbeatResponse;

enum WorkerHealth : int {
    OK = 0,
    RECEIVED_SHUTDOWN_SIGNAL = 1,
    INTERNAL_ERROR = 2,
    SHUTTING_DOWN = 3,
};
const WorkerHealth WorkerHealth_MIN = static_cast<WorkerHealth>(0);
const WorkerHealth WorkerHealth_MAX = static_cast<WorkerHealth>(3);
const ::google::protobuf::EnumName* WorkerHealth_names();
inline std::string WorkerHealth_Name(int value) { return ::google::protobuf::NameOfEnum(WorkerHealth_names(), value); }
inline bool WorkerHealth_IsValid(int value) { return !WorkerHealth_Name(value).empty(); }
inline bool WorkerHealth_Parse(const std::string& name, WorkerHealth* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(WorkerHealth_names(), name, &number);
    if (known) *value = static_cast<WorkerHealth>(number);
    return known;
}

enum WorkerShutdownMode : int {
    DEFAULT = 0,
    NOT_CONFIGURED = 1,
    WAIT_FOR_COORDINATOR = 2,
    SHUTDOWN_AFTER_TIMEOUT = 3,
};
const WorkerShutdownMode WorkerShutdownMode_MIN = static_cast<WorkerShutdownMode>(0);
const WorkerShutdownMode WorkerShutdownMode_MAX = static_cast<WorkerShutdownMode>(3);
const ::google::protobuf::EnumName* WorkerShutdownMode_names();
inline std::string WorkerShutdownMode_Name(int value) { return ::google::protobuf::NameOfEnum(WorkerShutdownMode_names(), value); }
inline bool WorkerShutdownMode_IsValid(int value) { return !WorkerShutdownMode_Name(value).empty(); }
inline bool WorkerShutdownMode_Parse(const std::string& name, WorkerShutdownMode* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(WorkerShutdownMode_names(), name, &number);
    if (known) *value = static_cast<WorkerShutdownMode>(number);
    return known;
}

enum LogMessage_Level : int {
    LogMessage_Level_UNKNOWN = 0,
    LogMessage_Level_DEBUGGING = 10,
    LogMessage_Level_INFO = 20,
    LogMessage_Level_WARN = 30,
    LogMessage_Level_ERROR = 40,
    LogMessage_Level_FATAL = 50,
};
const LogMessage_Level LogMessage_Level_LogMessage_Level_MIN = static_cast<LogMessage_Level>(0);
const LogMessage_Level LogMessage_Level_LogMessage_Level_MAX = static_cast<LogMessage_Level>(50);
const ::google::protobuf::EnumName* LogMessage_Level_names();
inline std::string LogMessage_Level_Name(int value) { return ::google::protobuf::NameOfEnum(LogMessage_Level_names(), value); }
inline bool LogMessage_Level_IsValid(int value) { return !LogMessage_Level_Name(value).empty(); }
inline bool LogMessage_Level_Parse(const std::string& name, LogMessage_Level* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(LogMessage_Level_names(), name, &number);
    if (known) *value = static_cast<LogMessage_Level>(number);
    return known;
}

enum SessionLog_SessionStatus : int {
    SessionLog_SessionStatus_STATUS_UNSPECIFIED = 0,
    SessionLog_SessionStatus_START = 1,
    SessionLog_SessionStatus_STOP = 2,
    SessionLog_SessionStatus_CHECKPOINT = 3,
};
const SessionLog_SessionStatus SessionLog_SessionStatus_SessionLog_SessionStatus_MIN = static_cast<SessionLog_SessionStatus>(0);
const SessionLog_SessionStatus SessionLog_SessionStatus_SessionLog_SessionStatus_MAX = static_cast<SessionLog_SessionStatus>(3);
const ::google::protobuf::EnumName* SessionLog_SessionStatus_names();
inline std::string SessionLog_SessionStatus_Name(int value) { return ::google::protobuf::NameOfEnum(SessionLog_SessionStatus_names(), value); }
inline bool SessionLog_SessionStatus_IsValid(int value) { return !SessionLog_SessionStatus_Name(value).empty(); }
inline bool SessionLog_SessionStatus_Parse(const std::string& name, SessionLog_SessionStatus* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(SessionLog_SessionStatus_names(), name, &number);
    if (known) *value = static_cast<SessionLog_SessionStatus>(number);
    return known;
}

class Event final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Event, "tensorflow.Event")
    enum WhatCase { kFileVersion = 3, kGraphDef = 4, kSummary = 5, kLogMessage = 6, kSessionLog = 7, kTaggedRunMetadata = 8, kMetaGraphDef = 9, WHAT_NOT_SET = 0 };
    EVERFLOW_CHOICE(what, WhatCase)
    EVERFLOW_NUMBER(double, wall_time)
    EVERFLOW_NUMBER(::google::protobuf::int64, step)
    EVERFLOW_CHOICE_TEXT(what, kFileVersion, file_version)
    EVERFLOW_CHOICE_TEXT(what, kGraphDef, graph_def)
    EVERFLOW_CHOICE_ONE(what, kSummary, ::tensorflow::Summary, summary)
    EVERFLOW_CHOICE_ONE(what, kLogMessage, ::tensorflow::LogMessage, log_message)
    EVERFLOW_CHOICE_ONE(what, kSessionLog, ::tensorflow::SessionLog, session_log)
    EVERFLOW_CHOICE_ONE(what, kTaggedRunMetadata, ::tensorflow::TaggedRunMetadata, tagged_run_metadata)
    EVERFLOW_CHOICE_TEXT(what, kMetaGraphDef, meta_graph_def)
};

class LogMessage final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(LogMessage, "tensorflow.LogMessage")
    typedef LogMessage_Level Level;
    static constexpr Level UNKNOWN = LogMessage_Level_UNKNOWN;
    static constexpr Level DEBUGGING = LogMessage_Level_DEBUGGING;
    static constexpr Level INFO = LogMessage_Level_INFO;
    static constexpr Level WARN = LogMessage_Level_WARN;
    static constexpr Level ERROR = LogMessage_Level_ERROR;
    static constexpr Level FATAL = LogMessage_Level_FATAL;
    EVERFLOW_ENUM(::tensorflow::LogMessage_Level, level)
    EVERFLOW_TEXT(message)
};

class SessionLog final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SessionLog, "tensorflow.SessionLog")
    typedef SessionLog_SessionStatus SessionStatus;
    static constexpr SessionStatus STATUS_UNSPECIFIED = SessionLog_SessionStatus_STATUS_UNSPECIFIED;
    static constexpr SessionStatus START = SessionLog_SessionStatus_START;
    static constexpr SessionStatus STOP = SessionLog_SessionStatus_STOP;
    static constexpr SessionStatus CHECKPOINT = SessionLog_SessionStatus_CHECKPOINT;
    EVERFLOW_ENUM(::tensorflow::SessionLog_SessionStatus, status)
    EVERFLOW_TEXT(checkpoint_path)
    EVERFLOW_TEXT(msg)
};

class TaggedRunMetadata final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TaggedRunMetadata, "tensorflow.TaggedRunMetadata")
    EVERFLOW_TEXT(tag)
    EVERFLOW_TEXT(run_metadata)
};

class WatchdogConfig final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(WatchdogConfig, "tensorflow.WatchdogConfig")
    EVERFLOW_NUMBER(::google::protobuf::int64, timeout_ms)
};

class WorkerHeartbeatRequest final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(WorkerHeartbeatRequest, "tensorflow.WorkerHeartbeatRequest")
    EVERFLOW_ENUM(::tensorflow::WorkerShutdownMode, shutdown_mode)
    EVERFLOW_ONE(::tensorflow::WatchdogConfig, watchdog_config)
};

class WorkerHeartbeatResponse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(WorkerHeartbeatResponse, "tensorflow.WorkerHeartbeatResponse")
    EVERFLOW_ENUM(::tensorflow::WorkerHealth, health_status)
    EVERFLOW_SEVERAL(::tensorflow::Event, worker_log)
    EVERFLOW_TEXT(hostname)
};

}  // namespace tensorflow

#endif

// SPDX-License-Identifier: BSD-2-Clause-Patent
// The application port's calls.

#include "application_port.h"
#include "core/parameters.h"
#include "names.h"
#include "policy_arguments.h"

#include <algorithm>

namespace downbeat {

namespace {

constexpr std::size_t latestStarts = 1024;         // starts that wait for a refusal
constexpr std::size_t requests = 0xffff;           // names of opens that wait for their flow

/// Sets a field of up to 128 bits.
template <std::size_t N>
void setWide(std::array<std::uint32_t, N> &words, unsigned offset, unsigned width, const std::uint64_t (&value)[2]) {
  const unsigned low = std::min(width, 64u);
  setBits(words, offset, low, value[0]);
  setBits(words, offset + low, width - low, value[1]);
}

} // namespace

#define DOWNBEAT_SET_WIDE(words, field, value)                                                                         \
  setWide(words, DOWNBEAT_COMMAND_##field##_OFFSET, DOWNBEAT_COMMAND_##field##_WIDTH, value)

int ApplicationPort::setParameters(CommandWords &words, const downbeat_parameters *parameters) {
  const downbeat_parameters given = withDefaults(parameters != nullptr ? *parameters : downbeat_parameters{});
  const int startup = given.startup != nullptr ? startupIndex(given.startup) : 0;
  const int steady = given.steady != nullptr ? steadyIndex(given.steady) : 0;
  if (startup < 0 || steady < 0) return DOWNBEAT_UNKNOWN_POLICY;
  if (!rangeProblem(given).empty()) return DOWNBEAT_INVALID_ARGUMENT;
  std::string problem = downbeat::argumentProblem(PolicyFamily::startup, startup, given.startup_argument);
  if (problem.empty()) problem = downbeat::argumentProblem(PolicyFamily::steady, steady, given.steady_argument);
  if (!problem.empty()) return argumentProblem_ = problem, DOWNBEAT_POLICY_ARGUMENT;
  DOWNBEAT_SET(words, COMMAND, PARAMETERS_STARTUP, static_cast<std::uint64_t>(startup));
  DOWNBEAT_SET(words, COMMAND, PARAMETERS_STEADY, static_cast<std::uint64_t>(steady));
#define DOWNBEAT_SET_NUMBER(member, field, max) DOWNBEAT_SET(words, COMMAND, field, given.member);
  DOWNBEAT_PARAMETERS(DOWNBEAT_SET_NUMBER)
  DOWNBEAT_SET_WIDE(words, PARAMETERS_STARTUP_ARGUMENT, given.startup_argument);
  DOWNBEAT_SET_WIDE(words, PARAMETERS_STEADY_ARGUMENT, given.steady_argument);
#ifdef DOWNBEAT_HOST_START
  DOWNBEAT_START_PARAMETERS(DOWNBEAT_SET_NUMBER)
#else
  const downbeat_start_values &start = given.start;
  if (start.window != 0 || start.pace != 0 || start.gap != 0 || start.until != 0 || start.round_trip != 0)
    return DOWNBEAT_NOT_SUPPORTED;
#endif
#undef DOWNBEAT_SET_NUMBER
  return DOWNBEAT_OK;
}

int ApplicationPort::connect(std::uint32_t remoteIp, std::uint16_t remotePort, std::uint16_t localPort,
                             const downbeat_parameters *parameters, downbeat_sim_connection &name) {
  if (remotePort == 0) return DOWNBEAT_INVALID_ARGUMENT;
  if (byRequest_.size() == requests) return DOWNBEAT_OUT_OF_RESOURCES;
  CommandWords words{};
  if (const int error = setParameters(words, parameters)) return error;
  newRequest();
  DOWNBEAT_SET(words, COMMAND, KIND, DOWNBEAT_COMMAND_KIND_OPEN);
  DOWNBEAT_SET(words, COMMAND, REQUEST, nextRequest_);
  DOWNBEAT_SET(words, COMMAND, LOCAL_PORT, localPort);
  DOWNBEAT_SET(words, COMMAND, REMOTE_IP, remoteIp);
  DOWNBEAT_SET(words, COMMAND, REMOTE_PORT, remotePort);
  commands_.push_back(words);
  name = nextName_++;
  Connection &connection = connections_[name];
  connection.request = nextRequest_;
  connection.remoteIp = remoteIp;
  connection.remotePort = remotePort;
  connection.localPort = localPort;
  connection.state = DOWNBEAT_TCP_STATE_SYN_SENT;
  byRequest_[nextRequest_++] = name;
  return DOWNBEAT_OK;
}

int ApplicationPort::listen(std::uint16_t port, const downbeat_parameters *parameters) {
  if (port == 0) return DOWNBEAT_INVALID_ARGUMENT;
  if (listening_.contains(port)) return DOWNBEAT_ADDRESS_IN_USE;
  CommandWords words{};
  if (const int error = setParameters(words, parameters)) return error;
  DOWNBEAT_SET(words, COMMAND, KIND, DOWNBEAT_COMMAND_KIND_LISTEN);
  DOWNBEAT_SET(words, COMMAND, LOCAL_PORT, port);
  commands_.push_back(words);
  listening_.try_emplace(port);
  return DOWNBEAT_OK;
}

int ApplicationPort::unlisten(std::uint16_t port) {
  const auto listening = listening_.find(port);
  if (listening == listening_.end()) return DOWNBEAT_NOT_LISTENING;
  const auto waiting = std::move(listening->second);
  listening_.erase(listening);
  CommandWords words{};
  DOWNBEAT_SET(words, COMMAND, KIND, DOWNBEAT_COMMAND_KIND_UNLISTEN);
  DOWNBEAT_SET(words, COMMAND, LOCAL_PORT, port);
  commands_.push_back(words);
  for (const downbeat_sim_connection name : waiting) abort(name);
  return DOWNBEAT_OK;
}

int ApplicationPort::accept(std::uint16_t port, downbeat_sim_connection &name) {
  const auto listening = listening_.find(port);
  if (listening == listening_.end()) return DOWNBEAT_NOT_LISTENING;
  if (listening->second.empty()) return DOWNBEAT_WOULD_BLOCK;
  name = listening->second.front();
  listening->second.pop_front();
  return DOWNBEAT_OK;
}

std::int64_t ApplicationPort::send(downbeat_sim_connection name, const std::uint8_t *data, std::size_t length,
                                   bool urgent) {
  Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  if (data == nullptr || length == 0) return DOWNBEAT_INVALID_ARGUMENT;
  if (connection->shutdownWanted) return DOWNBEAT_SHUT_DOWN;
  if (connection->ended) return connection->error != 0 ? connection->error : DOWNBEAT_SHUT_DOWN;
  const std::size_t held = connection->toPush.size();
  if (!connection->established || held >= staging_) return DOWNBEAT_WOULD_BLOCK;
  const std::size_t accepted = std::min(length, staging_ - held);
  connection->toPush.append(data, accepted);
  if (urgent) connection->urgent.push_back({connection->accepted, connection->accepted + accepted});
  connection->accepted += accepted;
  sending_.insert(name);
  choosePush();
  return static_cast<std::int64_t>(accepted);
}

std::int64_t ApplicationPort::receive(downbeat_sim_connection name, std::uint8_t *data, std::size_t capacity) {
  Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  if (data == nullptr || capacity == 0) return DOWNBEAT_INVALID_ARGUMENT;
  const std::size_t length = std::min(capacity, connection->delivered.size());
  if (length == 0) {
    if (connection->endOfStream()) return 0;
    return connection->ended ? connection->error : DOWNBEAT_WOULD_BLOCK;
  }
  connection->delivered.copyTo(data, length);
  connection->delivered.drop(length);
  if (connection->alive()) requestData(*connection);
  return static_cast<std::int64_t>(length);
}

int ApplicationPort::shutdown(downbeat_sim_connection name) {
  Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  if (!connection->established && !connection->ended) return DOWNBEAT_WOULD_BLOCK;
  connection->shutdownWanted = true;
  advance(name);
  return DOWNBEAT_OK;
}

int ApplicationPort::close(downbeat_sim_connection name) {
  Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  // The core counts delivered bytes as read. A RST reports those that the application has not read (RFC 2525 2.17).
  connection->forgotten = true;
  (connection->alive() && connection->unread() ? connection->abortWanted : connection->closeWanted) = true;
  advance(name);
  return DOWNBEAT_OK;
}

int ApplicationPort::abort(downbeat_sim_connection name) {
  Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  connection->forgotten = connection->abortWanted = true;
  advance(name);
  return DOWNBEAT_OK;
}

int ApplicationPort::setPolicies(downbeat_sim_connection name, const downbeat_parameters *parameters) {
  Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  if (connection->ended) return connection->error != 0 ? connection->error : DOWNBEAT_SHUT_DOWN;
  if (!connection->known) return DOWNBEAT_WOULD_BLOCK;
  CommandWords words{};
  if (const int error = setParameters(words, parameters)) return error;
  DOWNBEAT_SET(words, COMMAND, KIND, DOWNBEAT_COMMAND_KIND_SET_POLICIES);
  DOWNBEAT_SET(words, COMMAND, FLOW, connection->flow);
  commands_.push_back(words);
  return DOWNBEAT_OK;
}

int ApplicationPort::start(downbeat_sim_connection name, const downbeat_parameters *parameters) {
#ifdef DOWNBEAT_HOST_START
  Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  if (connection->ended) return connection->error != 0 ? connection->error : DOWNBEAT_SHUT_DOWN;
  if (!connection->known) return DOWNBEAT_WOULD_BLOCK;
  CommandWords words{};
  if (const int error = setParameters(words, parameters)) return error;
  DOWNBEAT_SET(words, COMMAND, KIND, DOWNBEAT_COMMAND_KIND_START);
  DOWNBEAT_SET(words, COMMAND, FLOW, connection->flow);
  DOWNBEAT_SET(words, COMMAND, REQUEST, newRequest());
  starting_[nextRequest_++] = name;
  if (starting_.size() > latestStarts) starting_.erase(starting_.begin());
  commands_.push_back(words);
  ++connection->startsWaiting;
  return DOWNBEAT_OK;
#else
  (void)name, (void)parameters;
  return DOWNBEAT_NOT_SUPPORTED;
#endif
}

/// Zero names no request, and a request that still waits for its flow keeps its name.
std::uint16_t ApplicationPort::newRequest() {
  while (nextRequest_ == 0 || byRequest_.contains(nextRequest_) || starting_.contains(nextRequest_)) ++nextRequest_;
  return nextRequest_;
}

int ApplicationPort::info(downbeat_sim_connection name, downbeat_sim_info &info) const {
  const Connection *connection = find(name);
  if (connection == nullptr) return DOWNBEAT_UNKNOWN_CONNECTION;
  info = {};
  info.state = static_cast<downbeat_state>(connection->state);
  info.error = connection->error;
  info.flow = connection->flow;
  info.generation = connection->generation;
  info.remote_ip = connection->remoteIp;
  info.remote_port = connection->remotePort;
  info.local_port = connection->localPort;
  info.acknowledged = connection->acknowledged;
  info.unacknowledged = connection->pushed + connection->toPush.size() - connection->acknowledged;
  info.received = connection->received;
  info.peer_finished = connection->peerFinished;
  info.urgent_left = connection->urgentLeft();
  info.network_error_type = connection->networkErrorType;
  info.network_error_code = connection->networkErrorCode;
  info.network_errors = connection->networkErrors;
  info.struggling = connection->struggling;
  info.starts_refused = connection->startsRefused;
  return DOWNBEAT_OK;
}

void ApplicationPort::command(std::uint8_t kind, const Connection &connection, std::uint32_t length) {
  CommandWords words{};
  DOWNBEAT_SET(words, COMMAND, KIND, kind);
  DOWNBEAT_SET(words, COMMAND, FLOW, connection.flow);
  DOWNBEAT_SET(words, COMMAND, LENGTH, length);
  commands_.push_back(words);
}

Connection *ApplicationPort::find(downbeat_sim_connection name) {
  const auto found = connections_.find(name);
  return found == connections_.end() || found->second.forgotten ? nullptr : &found->second;
}

const Connection *ApplicationPort::find(downbeat_sim_connection name) const {
  const auto found = connections_.find(name);
  return found == connections_.end() || found->second.forgotten ? nullptr : &found->second;
}

} // namespace downbeat

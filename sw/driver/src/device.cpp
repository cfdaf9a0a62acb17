// SPDX-License-Identifier: BSD-2-Clause-Patent
// The calls of a device; what the core tells is in notified.cpp, starts by estimates are in estimated_start.cpp.
#include "device.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "core/parameters.h"
#include "failure.h"
#include "policies.h"

namespace downbeat {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t requests = 65'535; // zero names none
constexpr auto timeout = 1s; // at the end, for the core to do what it was asked
constexpr auto pollInterval = 50us; // between two reads of whether it has

void inRange(const downbeat_parameters &parameters) {
  if (const std::string problem = rangeProblem(parameters); !problem.empty())
    throw Failure(DOWNBEAT_INVALID_ARGUMENT, problem);
}

} // namespace

Device::Device(std::unique_ptr<Port> port)
    : port_(std::move(port)),
      readyEvent_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      ready_(epoll_create1(EPOLL_CLOEXEC)),
      samePolicies_(port_->geometry().policyHash == policyHash()),
      notifications_(*port_),
      byFlow_(port_->geometry().flows, nullptr),
      letGo_(port_->geometry().flows, -1),
      commands_(*port_) {
  if (!readyEvent_ || !ready_)
    throw Failure(DOWNBEAT_OUT_OF_RESOURCES, std::string("no descriptor for the device: ") + std::strerror(errno));
  for (const int each : {port_->descriptor(), readyEvent_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (each >= 0) epoll_ctl(ready_.get(), EPOLL_CTL_ADD, each, &event);
  }
  notifications_.arm();
}

Device::~Device() {
  const std::lock_guard lock(tables_);
  for (const auto &[connection, kept] : connections_)
    if (connection->known) command(format::Opcode::abort, connection->flow, connection->generation);
  for (const auto &[number, listener] : listeners_) {
    format::Command command;
    command.opcode = format::Opcode::unlisten;
    command.localPort = number;
    this->command(command);
  }
  // The port stops next: what was asked should have been done.
  const auto end = std::chrono::steady_clock::now() + timeout;
  const std::lock_guard commandLock(commandMutex_);
  while (alive() && !commands_.empty() && std::chrono::steady_clock::now() < end) {
    commands_.flush();
    std::this_thread::sleep_for(pollInterval);
  }
}

void Device::restarted() {
  const std::lock_guard lock(tables_);
  const std::lock_guard commandLock(commandMutex_);
  commands_.reset();
  notifications_.reset();
}

std::uint8_t Device::policy(bool isStartup, const char *name) const {
  if (name == nullptr) return 0;
  const auto family = isStartup ? PolicyFamily::startup : PolicyFamily::steady;
  if (const auto number = policyNumber(family, name, samePolicies_)) return *number;
  throw Failure(DOWNBEAT_UNKNOWN_POLICY,
                std::string("no ") + (isStartup ? "start-up" : "steady") + " policy '" + name + "'" +
                    (samePolicies_ ? ": use " + policyNames(family) : " is known: the core has others, use numbers"));
}

void Device::setParameters(format::Command &command, const downbeat_options *options) const {
  downbeat_parameters parameters = options != nullptr ? options->parameters : downbeat_parameters{};
  if (options != nullptr && options->rate != 0) { // 8 bits a byte, 10^9 ns a second
    constexpr std::uint64_t nanoseconds = 8'000'000'000; // of a byte at 1 b/s
    const std::uint64_t whole = nanoseconds / options->rate, rest = nanoseconds % options->rate;
    if (whole >= 1u << 24)
      throw Failure(DOWNBEAT_INVALID_ARGUMENT, "a rate of less than 477 b/s has too many ns a byte");
    parameters.spacing = whole << 32 | (rest << 30) / options->rate << 2; // the rest is below 2^33
  }
  inRange(parameters);
  parameters = withDefaults(parameters);
  command.options = static_cast<std::uint8_t>(
      (parameters.no_delay != 0 ? format::noDelay : 0) | (parameters.nssr != 0 ? format::nssr : 0) |
      (parameters.ecn != 0 ? format::ecn : 0) | (parameters.reno_recovery != 0 ? format::renoRecovery : 0) |
      (parameters.no_tail_loss_probe != 0 ? format::noTailLossProbe : 0) |
      (parameters.no_rack != 0 ? format::noRack : 0) | (parameters.no_undo != 0 ? format::noUndo : 0) |
      (parameters.no_growth_limit != 0 ? format::noGrowthLimit : 0));
  command.noPrr = parameters.no_prr != 0 ? 1 : 0;
  choosePolicies(command, parameters);
  setStart(command, parameters);
  command.initialWindow = static_cast<std::uint16_t>(parameters.initial_window);
  command.spacing = parameters.spacing;
  command.keepAlive = static_cast<std::uint16_t>(parameters.keep_alive);
  command.userTimeout = static_cast<std::uint16_t>(parameters.user_timeout);
  command.differentiatedServices = static_cast<std::uint8_t>(parameters.differentiated_services);
  command.timeToLive = static_cast<std::uint8_t>(parameters.time_to_live);
}

void Device::choosePolicies(format::Command &command, const downbeat_parameters &parameters) const {
  command.startup = policy(true, parameters.startup);
  command.steady = policy(false, parameters.steady);
  std::ranges::copy(parameters.startup_argument, command.startupArgument);
  std::ranges::copy(parameters.steady_argument, command.steadyArgument);
}

void Device::setStart(format::Command &command, const downbeat_parameters &parameters) {
  command.ssthresh = parameters.ssthresh;
  command.startWindow = static_cast<std::uint16_t>(parameters.start.window);
  command.pace = static_cast<std::uint8_t>(parameters.start.pace);
  command.paceGap = parameters.start.gap;
  command.validUntil = parameters.start.until;
  command.roundTrip = parameters.start.round_trip;
}

std::uint16_t Device::newRequest(const Pending &pending) {
  if (pending_.size() == requests)
    throw Failure(DOWNBEAT_OUT_OF_RESOURCES, "65,535 opens wait for their answers: poll the device");
  while (nextRequest_ == 0 || pending_.contains(nextRequest_)) ++nextRequest_;
  pending_[nextRequest_] = pending;
  return nextRequest_++;
}

void Device::requireAlive() const {
  if (!alive()) throw Failure(DOWNBEAT_DEVICE_GONE, downbeat_error_text(DOWNBEAT_DEVICE_GONE));
}

downbeat_connection *Device::connect(std::uint32_t ip, std::uint16_t port, std::uint16_t localPort,
                                     const downbeat_options *options) {
  if (port == 0) throw Failure(DOWNBEAT_INVALID_ARGUMENT, "port 0 cannot be connected to");
  requireAlive();
  format::Command command;
  command.opcode = format::Opcode::open;
  command.remoteIp = ip;
  command.remotePort = port;
  command.localPort = localPort;
  setParameters(command, options);

  const std::lock_guard lock(tables_);
  auto made = std::make_unique<downbeat_connection>(*this);
  made->remoteIp = ip;
  made->remotePort = port;
  made->localPort = localPort;
  made->state = DOWNBEAT_SYN_SENT;
  command.request = made->request = newRequest({.opens = made.get()});
  if (estimates_ != nullptr && (options == nullptr || options->parameters.startup == nullptr)) {
    const std::uint64_t bytes = options != nullptr ? options->transfer_bytes : 0;
    estimates_->await(ip);
    requestStart(*made, bytes, command);
  }
  made->startup = command.startup;
  made->steady = command.steady;
  pending_[made->request].since = this->command(command);
  count(&downbeat_statistics::opened);
  downbeat_connection *connection = made.get();
  connections_.emplace(connection, std::move(made));
  return connection;
}

downbeat_listener *Device::listen(std::uint16_t port, unsigned backlog, const downbeat_options *options,
                                  void *context) {
  if (port == 0) throw Failure(DOWNBEAT_INVALID_ARGUMENT, "port 0 cannot be listened on");
  requireAlive();
  format::Command command;
  command.opcode = format::Opcode::listen;
  command.localPort = port;
  setParameters(command, options);

  const std::lock_guard lock(tables_);
  if (listeners_.contains(port))
    throw Failure(DOWNBEAT_ADDRESS_IN_USE, "this program listens on port " + std::to_string(port) + " already");
  auto made = std::make_unique<downbeat_listener>(*this, port, 0u, std::max(backlog, 1u), context);
  command.request = newRequest({.listens = made.get()});
  made->since = this->command(command);
  made->policies = command;
  made->estimates = estimates_ != nullptr && (options == nullptr || options->parameters.startup == nullptr);
  made->transferBytes = options != nullptr ? options->transfer_bytes : 0;
  return listeners_.emplace(port, std::move(made)).first->second.get();
}

int Device::listening(const downbeat_listener &listener) const {
  const std::lock_guard lock(tables_);
  return listener.state;
}

int Device::accept(downbeat_listener &listener, downbeat_connection *&connection) {
  const std::lock_guard lock(tables_);
  if (listener.state < 0 && listener.state != DOWNBEAT_WOULD_BLOCK) return failed(listener.state);
  if (listener.waiting.empty()) return alive() ? DOWNBEAT_WOULD_BLOCK : failed(DOWNBEAT_DEVICE_GONE);
  connection = listener.waiting.front();
  listener.waiting.pop_front();
  connection->waits = false;
  // Its state, bytes and space from before the accept count as ready.
  addReady(*connection, DOWNBEAT_READY_STATE | DOWNBEAT_READY_RECEIVED | DOWNBEAT_READY_SPACE);
  showReadiness();
  count(&downbeat_statistics::accepted);
  return DOWNBEAT_OK;
}

void Device::unlisten(downbeat_listener *listener) {
  const std::lock_guard lock(tables_);
  for (downbeat_connection *connection : listener->waiting) {
    command(format::Opcode::abort, connection->flow, connection->generation);
    forget(connection);
  }
  std::erase(readyListeners_, listener);
  std::erase_if(pending_, [&](const auto &each) { return each.second.listens == listener; });
  format::Command command;
  command.opcode = format::Opcode::unlisten;
  command.localPort = listener->port;
  this->command(command);
  listeners_.erase(listener->port);
}

void Device::setContext(downbeat_connection &connection, void *context) {
  const std::lock_guard lock(tables_);
  connection.context = context;
}

int Device::shutdown(Connection &connection) {
  const std::lock_guard lock(connection.mutex);
  if (!connection.established && !connection.ended) return DOWNBEAT_WOULD_BLOCK;
  if (!connection.shutDown && !connection.ended)
    command(format::Opcode::shutdown, connection.flow, connection.generation);
  connection.shutDown = true;
  return DOWNBEAT_OK;
}

int Device::setPolicies(Connection &connection, const downbeat_parameters &parameters) {
  format::Command command;
  command.opcode = format::Opcode::setPolicies;
  return change(connection, parameters, command);
}

int Device::setTimes(Connection &connection, std::uint32_t keepAlive, std::uint32_t userTimeout) {
  inRange({.keep_alive = keepAlive, .user_timeout = userTimeout});
  const std::lock_guard lock(connection.mutex);
  if (connection.ended) return failed(connection.error != 0 ? connection.error : DOWNBEAT_SHUT_DOWN);
  if (!connection.known) return DOWNBEAT_WOULD_BLOCK;
  format::Command command;
  command.opcode = format::Opcode::setTimes;
  command.flow = static_cast<std::uint16_t>(connection.flow);
  command.generation = static_cast<std::uint8_t>(connection.generation);
  command.keepAlive = static_cast<std::uint16_t>(keepAlive);
  command.userTimeout = static_cast<std::uint16_t>(userTimeout);
  this->command(command);
  return DOWNBEAT_OK;
}

int Device::start(Connection &connection, const downbeat_parameters &parameters) {
  format::Command command;
  command.opcode = format::Opcode::start;
  const downbeat_parameters read{.ssthresh = parameters.ssthresh, .start = parameters.start};
  inRange(read);
  setStart(command, withDefaults(read));
  return change(connection, parameters, command);
}

int Device::keepStamps(Connection &connection) {
  const std::lock_guard tablesLock(tables_);
  const std::lock_guard lock(connection.mutex);
  if (connection.ended) return failed(connection.error != 0 ? connection.error : DOWNBEAT_SHUT_DOWN);
  // Otherwise it is asked for when the connection has its flow.
  if (!connection.stamped && connection.known) command(format::Opcode::stamps, connection.flow, connection.generation);
  connection.stamped = true;
  return DOWNBEAT_OK;
}

std::int64_t Device::stamps(Connection &connection, std::span<downbeat_stamp> stamps, std::uint64_t *dropped) {
  const std::lock_guard lock(connection.mutex);
  if (dropped != nullptr) *dropped = connection.lostStamps + stampsDropped_;
  return connection.takeStamps(stamps);
}

int Device::change(Connection &connection, const downbeat_parameters &parameters, format::Command command) {
  choosePolicies(command, parameters);
  const std::lock_guard tablesLock(tables_);
  const std::lock_guard lock(connection.mutex);
  if (connection.ended) return failed(connection.error != 0 ? connection.error : DOWNBEAT_SHUT_DOWN);
  if (!connection.known) return DOWNBEAT_WOULD_BLOCK;
  command.flow = static_cast<std::uint16_t>(connection.flow);
  command.generation = static_cast<std::uint8_t>(connection.generation);
  connection.startup = command.startup;
  connection.steady = command.steady;
  command.request = newRequest({.changes = static_cast<downbeat_connection *>(&connection)});
  connection.policyError = DOWNBEAT_OK;
  this->command(command);
  return DOWNBEAT_OK;
}

void Device::letGo(downbeat_connection *connection, format::Opcode how) {
  const std::lock_guard tablesLock(tables_);
  std::unique_lock lock(connection->mutex);
  std::erase(readyConnections_, connection);
  if (!connection->known && !connection->ended) {
    connection->dropped = true; // it is aborted when it has its flow
    return;
  }
  if (connection->known) command(how, connection->flow, connection->generation);
  lock.unlock();
  forget(connection);
}

void Device::forget(downbeat_connection *connection) {
  if (connection->known && byFlow_[connection->flow] == connection) {
    byFlow_[connection->flow] = nullptr;
    letGo_[connection->flow] = static_cast<std::int16_t>(connection->generation);
  }
  std::erase_if(pending_, [&](const auto &each) {
    return each.second.opens == connection || each.second.changes == connection || each.second.starts == connection;
  });
  std::erase(readyConnections_, connection);
  if (estimates_ != nullptr) estimates_->closed(reinterpret_cast<std::uintptr_t>(connection), connection->remoteIp);
  connections_.erase(connection);
}

std::uint32_t Device::command(const format::Command &command) {
  const std::lock_guard lock(commandMutex_);
  count(&downbeat_statistics::doorbells);
  return commands_.push(command);
}

void Device::command(format::Opcode opcode, std::uint32_t flow, std::uint32_t generation) {
  format::Command entry;
  entry.opcode = opcode;
  entry.flow = static_cast<std::uint16_t>(flow);
  entry.generation = static_cast<std::uint8_t>(generation);
  command(entry);
}

void Device::ringPair(std::uint32_t offset, Sequence sequence, std::uint32_t reference) {
  port_->ringPair(offset, sequence, reference);
  count(&downbeat_statistics::doorbells);
}

void Device::policyName(bool isStartup, std::uint8_t number, char (&name)[16]) const {
  const char *found =
      samePolicies_ ? downbeat::policyName(isStartup ? PolicyFamily::startup : PolicyFamily::steady, number) : nullptr;
  const std::string text = found != nullptr ? found : std::to_string(number);
  name[text.copy(name, sizeof name - 1)] = '\0';
}

} // namespace downbeat

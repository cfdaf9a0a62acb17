// SPDX-License-Identifier: BSD-2-Clause-Patent
// Linux's controls of congestion, pace and statistics, which name the core's.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <linux/tcp.h>
#include <netinet/in.h>

#include "errors.h"
#include "supervisor.h"

namespace downbeat {

namespace {

constexpr std::size_t nameBytes = 64, kernelNameBytes = 16; // TCP_CONGESTION's here, and in Linux
constexpr std::uint64_t unlimited = ~0ull;

std::uint64_t rateOf(const File &socket) {
  std::uint64_t rate = unlimited;
  socklen_t length = sizeof rate;
  getsockopt(socket.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &length);
  return rate;
}

void setRate(const File &socket, std::uint64_t rate) {
  setsockopt(socket.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
}

const char *named(const char *(*names)(const downbeat_device *, unsigned), const downbeat_device *device,
                  const std::string &wanted) {
  for (unsigned number = 0;; ++number)
    if (const char *name = names(device, number); name == nullptr || wanted == name) return name;
}

std::uint32_t microseconds(std::uint64_t nanoseconds) { return static_cast<std::uint32_t>(nanoseconds / 1000); }

} // namespace

std::optional<Supervisor::Policies> Supervisor::policiesOf(const std::string &text) const {
  const std::size_t plus = text.find('+');
  const std::string last = text.substr(plus == std::string::npos ? 0 : plus + 1);
  Policies policies;
  policies.steady = named(downbeat_steady_name, device_, last);
  if (plus != std::string::npos || policies.steady == nullptr)
    policies.startup = named(downbeat_startup_name, device_, text.substr(0, plus));
  const bool both = plus != std::string::npos;
  if (policies.startup == nullptr && (both || policies.steady == nullptr)) return std::nullopt;
  if (policies.steady == nullptr && both) return std::nullopt;
  return policies;
}

void Supervisor::choose(downbeat_parameters &parameters, const Policies &policies) const {
  if (policies.startup != nullptr) {
    parameters.startup = policies.startup; // its argument is that of `downbeat run` for another
    std::fill(std::begin(parameters.startup_argument), std::end(parameters.startup_argument), 0);
  }
  if (policies.steady != nullptr) {
    parameters.steady = policies.steady;
    std::fill(std::begin(parameters.steady_argument), std::end(parameters.steady_argument), 0);
  }
}

void Supervisor::applyControls(const File &socket, downbeat_options &options) const {
  if (const auto found = policies_.find(cookieOf(socket)); found != policies_.end())
    choose(options.parameters, found->second);
  constexpr std::uint64_t bits = 8;
  if (const std::uint64_t rate = rateOf(socket); rate < unlimited / bits) options.rate = rate * bits;
}

void Supervisor::takePace(const File &socket, Socket &known) {
  known.rate = rateOf(socket);
  if (known.rate != unlimited) setRate(socket, unlimited); // the leg is not paced
}

void Supervisor::givePace(const File &socket, const Socket &known) { setRate(socket, known.rate); }

void Supervisor::control(const Call &call) {
  const File socket = call.file(call.descriptorArgument());
  if (!socket || !isTcp(socket)) return call.goOn();
  const Socket *known = find(socket);
  const auto bridge = known != nullptr ? bridges_.find(known->serial) : bridges_.end();
  const bool connected = bridge != bridges_.end();
  const auto name = call.argument(2);
  if (call.argument(1) == IPPROTO_TCP && name == TCP_CONGESTION)
    return setCongestion(call, socket, connected ? bridge->second.get() : nullptr);
  if (!connected) return call.goOn();
  if (call.argument(1) == IPPROTO_TCP)
    return name == TCP_NODELAY ? setNoDelay(call, *bridge->second) : setTime(call, socket, *bridge->second);
  if (name == SO_LINGER) return setLinger(call, socket, *bridge->second);
  if (name == SO_KEEPALIVE) return setTime(call, socket, *bridge->second);
  call.fail(ENOPROTOOPT); // a pace is for an open
}

void Supervisor::setCongestion(const Call &call, const File &socket, Bridge *bridge) {
  std::string text(std::min<std::uint64_t>(call.argument(4), nameBytes), 0);
  if (!call.read(text.data(), text.size(), call.argument(3))) return call.fail(EFAULT);
  text.resize(std::strlen(text.c_str()));
  auto policies = policiesOf(text);
  if (!policies) return bridge != nullptr ? call.fail(ENOENT) : call.goOn();
  if (bridge != nullptr) {
    downbeat_parameters parameters = options_.parameters;
    choose(parameters, *policies);
    if (const int error = bridge->setPolicies(parameters); error != 0) return call.fail(error);
  }
  // A connection elsewhere has it too, if the kernel knows it.
  setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, text.data(), static_cast<socklen_t>(text.size()));
  policies->text = text;
  policies->presence = std::make_shared<const Presence>(socket);
  policies_[cookieOf(socket)] = *policies;
  call.finish(0);
}

void Supervisor::setNoDelay(const Call &call, Bridge &bridge) {
  int value = 0;
  if (call.argument(4) >= sizeof value && call.read(&value, sizeof value, call.argument(3))) {
    bridge.setNoDelay(value != 0);
    step(bridge.serial());
  }
  call.goOn();
}

void Supervisor::setTime(const Call &call, const File &socket, Bridge &bridge) {
  int value = 0;
  if (call.argument(4) < sizeof value) return call.fail(EINVAL);
  if (!call.read(&value, sizeof value, call.argument(3))) return call.fail(EFAULT);
  if (setsockopt(socket.get(), static_cast<int>(call.argument(1)), static_cast<int>(call.argument(2)), &value,
                 sizeof value) != 0)
    return call.fail(errno);
  const auto [keepAlive, userTimeout] = timesOf(socket);
  bridge.setTimes(keepAlive, userTimeout);
  call.finish(0);
}

void Supervisor::setLinger(const Call &call, const File &socket, Bridge &bridge) {
  ::linger value{};
  if (call.argument(4) >= sizeof value && call.read(&value, sizeof value, call.argument(3)))
    takeLinger(socket, bridge, value);
  call.goOn();
}

void Supervisor::takeLinger(const File &socket, Bridge &bridge, const ::linger &option) {
  const bool waits = option.l_onoff != 0 && option.l_linger > 0;
  deafen(socket.get(), waits);
  bridge.setLinger(waits ? std::optional(std::chrono::seconds(option.l_linger)) : std::nullopt);
}

void Supervisor::giveCongestion(const Call &call, const File &socket) {
  const auto found = policies_.find(cookieOf(socket));
  const Policies chosen = found != policies_.end() ? found->second : Policies{};
  std::string text = chosen.text;
  if (find(socket) != nullptr) { // the core's, in whole
    downbeat_parameters parameters = options_.parameters;
    choose(parameters, chosen);
    const char *startup = parameters.startup != nullptr ? parameters.startup : downbeat_startup_name(device_, 0);
    const char *steady = parameters.steady != nullptr ? parameters.steady : downbeat_steady_name(device_, 0);
    if (startup != nullptr && steady != nullptr) text = std::string(startup) + "+" + steady;
  }
  if (text.empty()) return call.goOn();
  text.resize(std::max(text.size() + 1, kernelNameBytes));
  giveOption(call, text.data(), text.size());
}

void Supervisor::givePacingRate(const Call &call, const File &socket) {
  const Socket *known = find(socket);
  if (known == nullptr) return call.goOn();
  std::int32_t length = 0;
  call.read(&length, sizeof length, call.argument(4));
  const auto shorter = static_cast<std::uint32_t>(std::min<std::uint64_t>(known->rate, ~0u));
  if (length >= static_cast<std::int32_t>(sizeof known->rate))
    return giveOption(call, &known->rate, sizeof known->rate);
  giveOption(call, &shorter, sizeof shorter);
}

void Supervisor::giveInformation(const Call &call, const File &socket) {
  const Socket *known = find(socket);
  const auto bridge = known != nullptr ? bridges_.find(known->serial) : bridges_.end();
  if (bridge == bridges_.end()) return call.goOn();
  tcp_info values{};
  socklen_t length = sizeof values;
  getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &values, &length); // state, options, the program's receive queue
  const downbeat_connection_info_t info = bridge->second->information();
  const std::uint32_t segment = info_.mss;
  const std::uint64_t unacknowledged = info.sent - info.acknowledged;
  values.tcpi_snd_mss = values.tcpi_rcv_mss = values.tcpi_advmss = segment;
  values.tcpi_pmtu = info_.mtu;
  values.tcpi_rtt = microseconds(info.smoothed_rtt);
  values.tcpi_rttvar = microseconds(info.rtt_variation);
  values.tcpi_min_rtt = microseconds(info.smallest_rtt);
  values.tcpi_snd_cwnd = info.cwnd / segment;
  values.tcpi_snd_ssthresh = info.ssthresh / segment;
  values.tcpi_unacked = static_cast<std::uint32_t>((unacknowledged + segment - 1) / segment);
  values.tcpi_lost = values.tcpi_retrans = values.tcpi_sacked = 0;
  values.tcpi_total_retrans = info.losses + info.restarts; // events: of each at least one segment
  values.tcpi_bytes_acked = info.acknowledged;
  values.tcpi_bytes_sent = info.sent;
  values.tcpi_bytes_received = info.received;
  values.tcpi_delivered = static_cast<std::uint32_t>(info.acknowledged / segment);
  values.tcpi_pacing_rate = values.tcpi_max_pacing_rate = known->rate;
  values.tcpi_delivery_rate = info.delivery_rate;
  giveOption(call, &values, length);
}

} // namespace downbeat

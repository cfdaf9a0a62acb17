// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "iperf3_client.h"

#include <algorithm>

namespace {

constexpr unsigned blockBytes = 16384; // that the server sends at once: so many more than wanted may come
// iperf3 counts what it has read when it hears of the end. What has been acknowledged may still wait for it in the
// kernel.
constexpr downbeat_time timeToRead = DOWNBEAT_NANOSECONDS(500'000'000);

} // namespace

Iperf3Client::Iperf3Client(downbeat_device *device, const Options &options)
    : Iperf3(device), cookie_(std::to_string(options.seed)), bytesWanted_(options.bytes) {
  cookie_.insert(0, cookieBytes - 1 - cookie_.size(), '0').push_back('\0');
  reverse_ = options.reverse;
  toSend_ = reverse_ ? 0 : bytesWanted_;
  check(downbeat_sim_connect(device_, options.peerIp, options.port, 0, nullptr, &shown_), "connect");
  nlohmann::json parameters{{"tcp", true}, {"omit", 0}, {"time", 0}, {"num", bytesWanted_}, {"len", blockBytes}};
  parameters["parallel"] = options.connections;
  parameters["client_version"] = "3.12"; // the version of this protocol
  if (reverse_) parameters["reverse"] = true; // iperf3 asks whether it is there
  steps_ = {
      [this] { return putBytes(cookie_); },
      [this, parameters] { return take(State::paramExchange) && putJson(parameters); },
      [this, options] { return take(State::createStreams) && connectStreams(options); },
      [this] { return introduced(); },
      [this] { return take(State::testStart); },
      [this] { return take(State::testRunning); },
      [this] { return startClock(), true; },
      [this] { return transferred() && put(State::testEnd); },
      [this] { return stopClock(), true; },
      [this] { return take(State::exchangeResults) && putJson(results()); },
      [this] { return takeJson(peerResults_); },
      [this] {
        if (reverse_) receiveData();
        return !reverse_ || received() == countedByPeer();
      },
      [this] { return take(State::displayResults) && put(State::done); },
      [this] { return closed(); },
  };
}

bool Iperf3Client::connectStreams(const Options &options) {
  for (std::uint64_t stream = 0; stream < options.connections; ++stream) {
    downbeat_sim_connection connection;
    if (!check(downbeat_sim_connect(device_, options.peerIp, options.port, 0, nullptr, &connection), "connect"))
      return false;
    addStream(connection);
  }
  cookiePositions_.resize(streams_.size());
  return true;
}

bool Iperf3Client::introduced() {
  bool all = true;
  for (std::size_t i = 0; i < streams_.size(); ++i) all &= send(streams_[i].connection, cookie_, cookiePositions_[i]);
  return all;
}

bool Iperf3Client::transferred() {
  if (reverse_) {
    receiveData();
    return received() >= bytesWanted_;
  }
  sendData();
  if (toSend_ > 0) return false;
  const auto isAcknowledged = [this](const Stream &stream) {
    downbeat_sim_info state;
    return check(downbeat_sim_connection_info(device_, stream.connection, &state), "stream") &&
           check(state.error, "stream") && state.unacknowledged == 0;
  };
  if (acknowledged_ == 0 && std::ranges::all_of(streams_, isAcknowledged)) acknowledged_ = downbeat_sim_now(device_);
  return acknowledged_ != 0 && downbeat_sim_now(device_) > acknowledged_ + timeToRead;
}

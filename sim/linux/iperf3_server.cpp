// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "iperf3_server.h"

#include <limits>

Iperf3Server::Iperf3Server(downbeat_device *device, const Options &options) : Iperf3(device), port_(options.port) {
  check(downbeat_sim_listen(device_, port_, nullptr), "listen");
  steps_ = {
      [this] { return admit(0) && put(State::paramExchange); },
      [this] { return takeParameters() && put(State::createStreams); },
      [this] { return admit(streamsWanted_) && put(State::testStart) && put(State::testRunning); },
      [this] { return startClock(), true; },
      [this] {
        reverse_ ? sendData() : receiveData();
        return take(State::testEnd) && put(State::exchangeResults);
      },
      [this] { return stopClock(), true; },
      [this] { return takeJson(peerResults_); },
      [this] { // data of iperf3 may still be under way, in another connection
        if (!reverse_) receiveData();
        return (reverse_ || received() == countedByPeer()) && putJson(results()) && put(State::displayResults);
      },
      [this] { return take(State::done); },
      [this] { return closed(); },
  };
}

bool Iperf3Server::admit(std::size_t streams) {
  for (downbeat_sim_connection connection; downbeat_sim_accept(device_, port_, &connection) == DOWNBEAT_OK;)
    visitors_.push_back({connection, {}});
  // In the order in which they came: iperf3 numbers its streams so.
  while (!visitors_.empty()) {
    Visitor &visitor = visitors_.front();
    receive(visitor.connection, visitor.cookie);
    if (visitor.cookie.size() < cookieBytes) break;
    if (shown_ == 0) {
      shown_ = visitor.connection;
      cookie_ = visitor.cookie.substr(0, cookieBytes);
    } else if (visitor.cookie == cookie_) {
      addStream(visitor.connection);
    } else {
      check(downbeat_sim_abort(device_, visitor.connection), "abort"); // it belongs to another test
    }
    visitors_.erase(visitors_.begin());
  }
  return shown_ != 0 && streams_.size() == streams;
}

bool Iperf3Server::takeParameters() {
  nlohmann::json parameters;
  if (!takeJson(parameters)) return false;
  if (!parameters.contains("tcp") || parameters.contains("bidirectional")) {
    failure_ = "iperf3 asked for a test that is not TCP in one direction";
    return false;
  }
  streamsWanted_ = parameters.value("parallel", std::size_t{1});
  reverse_ = parameters.contains("reverse");
  toSend_ = parameters.value("num", std::uint64_t{0});
  if (toSend_ == 0)
    toSend_ = parameters.value("blockcount", std::uint64_t{0}) * parameters.at("len").get<std::uint64_t>();
  if (toSend_ == 0) toSend_ = std::numeric_limits<std::uint64_t>::max(); // until the client says that the time is over
  return true;
}

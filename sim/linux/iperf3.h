// SPDX-License-Identifier: BSD-2-Clause-Patent
// Common part of both ends of an iperf3 test over TCP: the control connection, which carries states of one byte each
// and JSON behind its length, and the streams. Source: iperf3's iperf_api.h and iperf_api.c (github.com/esnet/iperf).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "application.h"

class Iperf3 : public Application {
public:
  using Application::Application;
  /// `streams` with `id`, `sent` and `received` in bytes, `seconds` of the test, and `peer`: the results that the peer
  /// sent.
  nlohmann::json details() const override;

protected:
  enum class State : std::int8_t {
    testStart = 1,
    testRunning = 2,
    testEnd = 4,
    paramExchange = 9,
    createStreams = 10,
    exchangeResults = 13,
    displayResults = 14,
    done = 16
  };
  struct Stream {
    downbeat_sim_connection connection;
    unsigned id; // as iperf3 counts: 1, 3, 4, 5, ...
    std::uint64_t sent = 0, received = 0;
  };
  /// Names a test: the first bytes of each of its connections, 36 characters and a NUL.
  static constexpr std::size_t cookieBytes = 37;

  /// Takes `steps_` one after the other, each as soon as the one before it has returned true.
  void advance() final;

  /// Send to the peer on the control connection. True, so that a step can end with them.
  bool put(State state);
  bool putJson(const nlohmann::json &value);
  bool putBytes(std::string_view bytes);
  /// False until that state has arrived; any other state ends the application.
  bool take(State expected);
  bool takeJson(nlohmann::json &value);

  void addStream(downbeat_sim_connection connection);
  /// Sends as much of `toSend_` as the core accepts, in turn on all streams.
  void sendData();
  void receiveData();
  std::uint64_t received() const;
  /// Payload bytes in the peer's results.
  std::uint64_t countedByPeer() const;
  nlohmann::json results() const;
  void startClock() { started_ = downbeat_sim_now(device_); }
  void stopClock() { stopped_ = downbeat_sim_now(device_); }
  /// Closes all connections; true once they are closed.
  bool closed();

  std::vector<std::function<bool()>> steps_;
  std::vector<Stream> streams_;
  std::string in_; // bytes of the control connection, which is `shown_`
  nlohmann::json peerResults_;
  std::uint64_t toSend_ = 0; // bytes, on all streams together
  bool reverse_ = false;     // the server sends

private:
  double seconds() const { return static_cast<double>(stopped_ - started_) / 65536e9; }
  bool closed(downbeat_sim_connection connection);

  std::size_t step_ = 0, position_ = 0;
  std::string out_;
  downbeat_time started_ = 0, stopped_ = 0;
};

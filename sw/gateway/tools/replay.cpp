// SPDX-License-Identifier: BSD-2-Clause-Patent
// The gateway in virtual time, for tests: commands on the standard input, one response a line.
//
//   at NANOSECONDS               the time from now on
//   in HEX [SOURCE]              a datagram; "out HEX", or "out" if there is none
//   relay HEX                    another gateway's message, whose tag was right
//   counters                     "counters NAME=VALUE ...", without those that are 0
//   size                         "size PREFIXES BYTES" of the store
//   sweep                        forgets what is too old
//   client HOST-KEY              a host with the client library (client.h)
//   report PREFIX BYTES          it reports a transfer
//   ask PREFIX                   "known BYTES" from its cache, or "unknown"
//   pass, lose                   "moved N": its datagrams reach the gateway, and responses reach it; or nothing does
//   lag NANOSECONDS              its clock stands so far behind from now on: it was paused
//   restart                      the gateway forgets everything
//   save FILE BOOT DATE          a snapshot with that boot and date (ns)
//   restore FILE BOOT DATE       into an empty store; "restored PREFIXES AGE_NS", or "left REASON"
#include <iostream>
#include <memory>
#include <sstream>

#include "client/client.h"
#include "server/config.h"
#include "server/gateway.h"
#include "server/snapshot.h"

using namespace downbeat::gateway;

namespace {

class Replay {
public:
  Replay(Config config, Keys keys) : config_(std::move(config)), keys_(std::move(keys)) { fresh(); }

  std::string run(const std::string &line) {
    std::istringstream words(line);
    std::string word, text, boot;
    words >> word;
    if (word == "at") return words >> now_, "";
    if (word == "in") return words >> text >> boot, receive(text, boot);
    if (word == "relay") return words >> text, relay(text);
    if (word == "counters") return counters();
    if (word == "size")
      return "size " + std::to_string(gateway_->store().size()) + " " + std::to_string(gateway_->store().bytes());
    if (word == "sweep") {
      gateway_->expire(now_);
      for (std::size_t slot = 0; (slot = gateway_->store().sweep(slot, 1000, now_, nullptr)) != 0;) {}
      return "";
    }
    if (word == "client" || word == "report" || word == "ask" || word == "pass" || word == "lose")
      return client(word, words);
    if (word == "lag") return words >> lag_, "";
    if (word == "restart") return fresh(), "";
    Nanoseconds date = 0;
    words >> text >> boot >> date;
    const Moment moment{boot, now_, date};
    if (word == "save") return save(text, moment);
    if (word == "restore") return restored(text, moment);
    return "unknown " + word;
  }

private:
  void fresh() {
    counters_ = std::make_unique<Counters>();
    const auto random = [this] { return ++token_; };
    gateway_ = std::make_unique<Gateway>(keys_, config_.limits, config_.store, random, *counters_);
  }

  static std::vector<std::uint8_t> bytes(const std::string &hex) {
    std::vector<std::uint8_t> read;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
      read.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(at, 2), nullptr, 16)));
    return read;
  }

  std::string relay(const std::string &hex) {
    const auto in = bytes(hex);
    const auto header = decodeHeader(in);
    if (!std::holds_alternative<Header>(header)) return "no header";
    const Bytes body = Bytes(in).subspan(headerBytes, in.size() - headerBytes - tagBytes);
    const auto message = decodeBody(std::get<Header>(header), body);
    if (!std::holds_alternative<Message>(message)) return "no message";
    gateway_->relayed(std::get<Message>(message), false, now_);
    return "";
  }

  std::string receive(const std::string &hex, const std::string &source) {
    const auto in = bytes(hex);
    std::vector<std::uint8_t> out;
    gateway_->receive(in, Bytes(reinterpret_cast<const std::uint8_t *>(source.data()), source.size()), now_, out);
    std::string line = "out ";
    for (std::uint8_t byte : out) line += "0123456789abcdef"[byte >> 4], line += "0123456789abcdef"[byte & 15];
    return line;
  }

  std::string client(const std::string &word, std::istringstream &words) {
    if (word == "client") {
      std::string line;
      std::getline(words >> std::ws, line);
      auto key = HostKey::parse(line);
      if (const auto *reason = std::get_if<std::string>(&key)) return *reason;
      client_ = std::make_unique<Client>(std::get<HostKey>(key), [this] { return ++nonce_; });
      return "client";
    }
    if (!client_) return "no client";
    if (word == "pass" || word == "lose") return exchange(word == "pass");
    std::string text;
    double window = 0;
    words >> text >> window;
    const auto prefix = Prefix::parse(text);
    if (!prefix) return "no prefix";
    if (word == "report") {
      client_->report({.prefix = *prefix, .window = window, .rtt = 0.05, .acked = 2}, now_ - lag_);
      return "reported";
    }
    const auto response = client_->request(*prefix, now_ - lag_);
    return response ? "known " + std::to_string(response->window) : "unknown";
  }

  std::string exchange(bool arrives) {
    std::size_t moved = 0;
    for (const auto &datagram : client_->due(now_ - lag_)) {
      ++moved;
      std::vector<std::uint8_t> out;
      if (arrives) gateway_->receive(datagram, {}, now_, out);
      if (!out.empty()) client_->receive(out, now_ - lag_);
    }
    return "moved " + std::to_string(moved);
  }

  std::string counters() const {
    std::string line = "counters";
    const auto add = [&](const char *name, const Counter &counter) {
      if (counter.get()) line += std::string(" ") + name + "=" + std::to_string(counter.get());
    };
    for (std::size_t at = 0; at < refusalNames.size(); ++at) add(refusalNames[at], counters_->refused[at]);
    add("received", counters_->received);
    add("hellos", counters_->hellos);
    add("challenges", counters_->challenges);
    add("reports", counters_->reports);
    add("queries", counters_->queries);
    add("evicted_prefixes", counters_->evictedPrefixes);
    add("evicted_sessions", counters_->evictedSessions);
    add("relay_taken", counters_->relayTaken);
    add("relay_refused", counters_->relayRefused);
    add("sessions", counters_->sessions);
    add("reporters", counters_->reporters);
    return line;
  }

  std::string save(const std::string &file, const Moment &moment) {
    FreshFile fresh(file);
    Snapshot snapshot;
    snapshot.begin(moment);
    std::string reason;
    for (bool last = false; !last && reason.empty();) {
      last = snapshot.step(gateway_->store(), 3, now_);
      reason = fresh.write(snapshot.piece());
    }
    if (reason.empty()) reason = fresh.finish();
    return reason.empty() ? "saved" : "failed " + reason;
  }

  std::string restored(const std::string &file, const Moment &moment) {
    fresh();
    const auto bytes = readFile(file);
    if (const auto *reason = std::get_if<std::string>(&bytes)) return "left " + *reason;
    const auto done = restore(std::get<std::vector<std::uint8_t>>(bytes), moment, gateway_->store());
    if (const auto *reason = std::get_if<std::string>(&done)) return "left " + *reason;
    const auto &[prefixes, age] = std::get<Restored>(done);
    return "restored " + std::to_string(prefixes) + " " + std::to_string(age);
  }

  Config config_;
  Keys keys_;
  Nanoseconds now_ = 0, lag_ = 0;
  std::uint64_t token_ = 0, nonce_ = 0;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Counters> counters_;
  std::unique_ptr<Gateway> gateway_;
};

} // namespace

int main(int count, char **words) {
  if (count != 2 || !startCrypto()) return std::cerr << "gateway-replay CONFIG\n", 2;
  auto config = readConfig(words[1]);
  if (const auto *reason = std::get_if<std::string>(&config)) return std::cerr << *reason << '\n', 2;
  auto keys = Keys::read(std::get<Config>(config).keys);
  if (const auto *reason = std::get_if<std::string>(&keys)) return std::cerr << *reason << '\n', 2;
  Replay replay(std::move(std::get<Config>(config)), std::move(std::get<Keys>(keys)));
  for (std::string line; std::getline(std::cin, line);)
    if (const auto response = replay.run(line); !response.empty()) std::cout << response << std::endl;
}

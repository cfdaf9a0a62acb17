// SPDX-License-Identifier: BSD-2-Clause-Patent
// The configuration (TOML). Every key has a default; a wrong one is an error with file, line and what is allowed.
#pragma once

#include <string>
#include <variant>

#include "server/redis/connection.h"
#include "server/store/store.h"
#include "sessions.h"

namespace downbeat::gateway {

struct Config {
  std::string udp = "127.0.0.1:4780";  // empty: none
  std::string unixSocket;              // a datagram socket; empty: none
  std::string admin = "/run/downbeat-gateway/admin.sock";
  std::string metrics = "127.0.0.1:9478"; // Prometheus; empty: none
  std::string health = "127.0.0.1:9479";  // empty: none
  std::string keys = "/etc/downbeat/gateway.keys";
  RedisAddress redis;                  // without a host: the embedded store alone
  std::string passwordFile;            // Redis password; empty: none
  std::string snapshot;                // file; empty: none
  std::uint32_t snapshotSeconds = 10;
  std::size_t megabytes = 256;         // for store and sessions, a quarter for these
  std::string log = "info";            // error, info or debug
  Limits limits;
  StoreLimits store;
};

std::variant<Config, std::string> parseConfig(const std::string &text, const std::string &file);
std::variant<Config, std::string> readConfig(const std::string &file);

/// "embedded" or "redis://HOST:PORT/DATABASE" into the configuration; empty: done, otherwise the reason.
std::string useStore(Config &config, const std::string &store);

/// The password from its file; empty: done, otherwise the reason.
std::string readPassword(Config &config);

} // namespace downbeat::gateway

// SPDX-License-Identifier: BSD-2-Clause-Patent
// downbeat-gateway: the hosts of one site share what they know of paths (docs/tutorials/share-estimates.md).
#include <cstdio>
#include <string>
#include <vector>

#include "server.h"

namespace {

constexpr const char *usage =
    R"(downbeat-gateway [--config FILE] [--store embedded|redis://HOST:PORT[/DATABASE]] [--check]

  The performance gateway of a site: its hosts share what they know of paths.

  --config FILE  configuration (TOML); without it the defaults
  --store STORE  in place of the configuration's store.kind
  --check        reads configuration and keys, says what is wrong, and ends
)";

int refuse(const std::string &reason) {
  std::fprintf(stderr, "downbeat-gateway: %s\n", reason.c_str());
  return 2;
}

} // namespace

int main(int count, char **words) {
  using namespace downbeat::gateway;
  std::string file, store;
  bool check = false;
  for (int at = 1; at < count; ++at) {
    const std::string word = words[at];
    if (word == "--help") return std::fputs(usage, stdout), 0;
    if (word == "--check")
      check = true;
    else if (word == "--config" && at + 1 < count)
      file = words[++at];
    else if (word == "--store" && at + 1 < count)
      store = words[++at];
    else
      return refuse(word + ": no such option, or its value is missing\n" + usage);
  }
  if (!startCrypto()) return refuse("libsodium cannot start: the system gives no random numbers");
  auto read = file.empty() ? std::variant<Config, std::string>(Config()) : readConfig(file);
  if (const auto *reason = std::get_if<std::string>(&read)) return refuse(*reason);
  Config &config = std::get<Config>(read);
  if (!store.empty())
    if (const auto reason = useStore(config, store); !reason.empty()) return refuse("--store " + store + ": " + reason);
  if (const auto reason = readPassword(config); !reason.empty()) return refuse(reason);
  if (check) {
    const auto keys = Keys::read(config.keys);
    if (const auto *reason = std::get_if<std::string>(&keys)) return refuse(*reason);
    std::printf("%s: right, with %zu keys\n", file.empty() ? "the defaults" : file.c_str(),
                std::get<Keys>(keys).size());
    return 0;
  }
  Server server(std::move(config));
  if (const auto reason = server.start(); !reason.empty()) return refuse(reason);
  server.run();
  return 0;
}

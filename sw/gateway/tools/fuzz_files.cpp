// SPDX-License-Identifier: BSD-2-Clause-Patent
// A target of libFuzzer: files that the gateway and its hosts read. The first byte says which: configuration, keys, a
// host's key, or a snapshot, whose hash is made to fit. Each is taken, or refused with a reason in one line.
#include <cstdlib>
#include <sodium.h>
#include <string>
#include <variant>

#include "server/config.h"
#include "server/snapshot.h"
#include "server/store/store.h"
#include "wire/keys.h"

using namespace downbeat::gateway;

namespace {

template <typename Read> void judge(const std::variant<Read, std::string> &read) {
  const auto *reason = std::get_if<std::string>(&read);
  if (reason && (reason->empty() || reason->find('\n') != std::string::npos)) std::abort();
}

void snapshot(std::vector<std::uint8_t> bytes) {
  const std::size_t size = bytes.size();
  bytes.resize(size + crypto_generichash_BYTES);
  crypto_generichash(bytes.data() + size, crypto_generichash_BYTES, bytes.data(), size, nullptr, 0);
  Counters counters;
  Store store({.prefixes = 50, .bytes = 1 << 20, .reporters = 4}, counters);
  const Moment moment{.boot = "boot", .now = 500 * second, .date = 5000 * second};
  judge(restore(bytes, moment, store));
  if (store.size() > 50) std::abort();
  for (std::size_t slot = 0; (slot = store.sweep(slot, 10, moment.now + 100 * second, nullptr)) != 0;) {}
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer gives the name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const bool started = startCrypto();
  if (size == 0 || !started) return 0;
  const std::string text(data + 1, data + size);
  switch (data[0] % 4) {
  case 0: judge(parseConfig(text, "file")); break;
  case 1: judge(Keys::parse(text, "file")); break;
  case 2: judge(HostKey::parse(text)); break;
  default: snapshot({data + 1, data + size});
  }
  return 0;
}

// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "snapshot.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sodium.h>
#include <unistd.h>

#include "wire/bytes.h"

namespace downbeat::gateway {
namespace {

constexpr std::uint64_t signature = 0x4442534e41503032; // "DBSNAP02"
constexpr std::size_t hashBytes = 32, bootBytes = 36;
constexpr std::size_t done = SIZE_MAX; // no slot: all entries are in

void write(Writer &writer, const Row &row) {
  writer.number(row.reporter, 4);
  writer.number(row.last, 4);
  writer.number(row.buckets.size(), 2);
  for (const Bucket &bucket : row.buckets) {
    writer.number(bucket.index, 2);
    writer.number(bucket.count, 2);
    writer.number(std::bit_cast<std::uint32_t>(bucket.acked), 4);
    writer.real(bucket.window);
    writer.real(bucket.rtt);
  }
  writer.number(row.state.index, 4);
  for (double value : {double(row.state.steady), row.state.slow, row.state.window}) writer.real(value);
  writer.number(row.saved.index, 4);
  for (double value : {row.saved.window, row.saved.rtt}) writer.real(value);
}

void write(Writer &writer, const Store::Entry &entry) {
  writer.number(entry.prefix.family, 1);
  writer.number(entry.prefix.length, 1);
  writer.copy(entry.prefix.address);
  writer.number(entry.reports, 8);
  writer.number(entry.queries, 8);
  writer.number(entry.rows.size(), 2);
  for (const Row &row : entry.rows) write(writer, row);
}

// `shift`: buckets from the old boot's count to this one's.
std::uint32_t moved(std::uint32_t index, std::int64_t shift, std::uint32_t now) {
  const std::int64_t there = std::int64_t(index) + shift;
  return index == 0 || there <= 0 ? 0 : static_cast<std::uint32_t>(std::min<std::int64_t>(there, now));
}

Row readRow(Reader &reader, std::int64_t shift, std::uint32_t now) {
  Row row;
  row.reporter = reader.number<std::uint32_t>();
  row.last = moved(reader.number<std::uint32_t>(), shift, now);
  for (auto left = reader.number<std::uint16_t>(); left && !reader.failed(); --left) {
    Bucket bucket;
    bucket.index = static_cast<std::uint16_t>(reader.number(2) + static_cast<std::uint64_t>(shift));
    bucket.count = reader.number<std::uint16_t>();
    bucket.acked = std::bit_cast<float>(reader.number<std::uint32_t>());
    bucket.window = reader.real();
    bucket.rtt = reader.real();
    row.buckets.push_back(bucket);
  }
  row.state.index = moved(reader.number<std::uint32_t>(), shift, now);
  row.state.steady = static_cast<float>(reader.real());
  row.state.slow = reader.real();
  row.state.window = reader.real();
  row.saved.index = moved(reader.number<std::uint32_t>(), shift, now);
  row.saved.window = reader.real();
  row.saved.rtt = reader.real();
  row.forget(now);
  return row;
}

std::array<std::uint8_t, hashBytes> hash(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, hashBytes> sum;
  crypto_generichash(sum.data(), sum.size(), bytes.data(), bytes.size(), nullptr, 0);
  return sum;
}

} // namespace

Moment Moment::read() {
  Moment moment{.boot = {}, .now = gateway::read(CLOCK_BOOTTIME), .date = gateway::read(CLOCK_REALTIME)};
  std::ifstream("/proc/sys/kernel/random/boot_id") >> moment.boot;
  return moment;
}

struct Snapshot::Hash {
  crypto_generichash_state state;
};

Snapshot::Snapshot() : hash_(std::make_unique<Hash>()) {}
Snapshot::~Snapshot() = default;

void Snapshot::begin(const Moment &moment) {
  crypto_generichash_init(&hash_->state, nullptr, 0, hashBytes);
  bytes_.clear();
  underWay_ = true;
  slot_ = 0;
  Writer writer(bytes_);
  writer.number(signature, 8);
  std::string boot = moment.boot;
  boot.resize(bootBytes);
  writer.copy({reinterpret_cast<const std::uint8_t *>(boot.data()), boot.size()});
  writer.number(static_cast<std::uint64_t>(moment.now), 8);
  writer.number(static_cast<std::uint64_t>(moment.date), 8);
}

bool Snapshot::step(Store &store, std::size_t max, Nanoseconds now) {
  slot_ = store.sweep(slot_, max, now, [&](const Store::Entry &entry) {
    Writer writer(bytes_);
    writer.number(1, 1);
    write(writer, entry);
  });
  if (slot_ != 0) return false;
  slot_ = done;
  Writer writer(bytes_);
  writer.number(0, 1); // no further entry
  // Last: what came while the entries were saved is lost at most, and nothing counts twice.
  store.counted().write(writer);
  return true;
}

std::vector<std::uint8_t> Snapshot::piece() {
  const bool last = underWay_ && slot_ == done;
  crypto_generichash_update(&hash_->state, bytes_.data(), bytes_.size());
  if (last) {
    bytes_.resize(bytes_.size() + hashBytes);
    crypto_generichash_final(&hash_->state, bytes_.data() + bytes_.size() - hashBytes, hashBytes);
    underWay_ = false;
  }
  return std::exchange(bytes_, {});
}

std::variant<Restored, std::string> restore(std::span<const std::uint8_t> bytes, const Moment &moment, Store &store) {
  if (bytes.size() < hashBytes + 1) return "the snapshot is cut off: it is left out";
  const auto body = bytes.first(bytes.size() - hashBytes);
  if (std::memcmp(hash(body).data(), bytes.data() + body.size(), hashBytes) != 0)
    return "the snapshot's hash does not fit: it is left out";
  Reader reader(body);
  if (reader.number(8) != signature) return "no snapshot of this version: it is left out";
  std::string boot(bootBytes, 0);
  reader.copy({reinterpret_cast<std::uint8_t *>(boot.data()), boot.size()});
  boot.resize(std::strlen(boot.c_str()));
  const auto then = static_cast<Nanoseconds>(reader.number(8)), date = static_cast<Nanoseconds>(reader.number(8));
  if (then < 0 || date < 0) return "the snapshot's times are none: it is left out"; // no difference of them overflows
  const bool sameBoot = boot == moment.boot && moment.now >= then;
  const Nanoseconds age = sameBoot ? moment.now - then : moment.date - date;
  if (age < 0) return "the snapshot is from the future, so its age is unknown: it is left out";
  if (age >= bucketTime * bucketsKept) return "the snapshot is older than 5 minutes: it is left out";
  const std::uint32_t now = bucketOf(moment.now);
  // Rounded up: what is restored after a reboot may end a bucket early, never late.
  const std::int64_t shift = sameBoot ? 0 : std::int64_t(now) - bucketOf(then) - (age + bucketTime - 1) / bucketTime;
  Restored restored{.age = age};
  while (reader.number(1) == 1 && !reader.failed()) {
    Store::Entry entry;
    entry.prefix.family = reader.number<std::uint8_t>();
    entry.prefix.length = reader.number<std::uint8_t>();
    reader.copy(entry.prefix.address);
    entry.reports = reader.number(8);
    entry.queries = reader.number(8);
    for (auto left = reader.number<std::uint16_t>(); left && !reader.failed(); --left) {
      Row row = readRow(reader, shift, now);
      if (!row.empty()) entry.rows.push_back(std::move(row));
    }
    if (reader.failed() || !entry.prefix.valid()) return "the snapshot is cut off: what came before was restored";
    if (entry.rows.empty()) continue;
    store.restore(std::move(entry));
    ++restored.prefixes;
  }
  store.counted().read(reader);
  return restored;
}

std::string FreshFile::failed(const char *what) const { return file_ + ": " + what + ": " + std::strerror(errno); }

std::string FreshFile::write(std::span<const std::uint8_t> bytes) {
  if (!descriptor_) {
    descriptor_ = Descriptor(open((file_ + ".new").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!descriptor_) return failed("cannot be made");
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return failed("cannot be written");
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

std::string FreshFile::finish() {
  if (fsync(descriptor_.get()) != 0) return failed("cannot be written");
  descriptor_ = Descriptor();
  return rename((file_ + ".new").c_str(), file_.c_str()) == 0 ? std::string() : failed("cannot be replaced");
}

std::variant<std::vector<std::uint8_t>, std::string> readFile(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return file + ": no snapshot";
  return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(stream), {});
}

} // namespace downbeat::gateway

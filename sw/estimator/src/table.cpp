/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "table.h"

#include <utility>

#include "equations.h"

namespace downbeat::estimator {

namespace {

constexpr uint32_t steps = 16; // steps of an EWMA with one sample: (1/3)^16 of the old is left

std::vector<uint32_t> places(uint32_t count) {
  std::vector<uint32_t> free(count);
  for (uint32_t at = 0; at < count; ++at) free[at] = count - 1 - at;
  return free;
}

} // namespace

void Drops::add(uint64_t time, uint32_t more, uint32_t weight) {
  if (count == 0) {
    last = time;
    count = 1; // earlier ones of the same report have no known time
    return;
  }
  // Reports of several connections may arrive out of order.
  const uint64_t sample = time > last ? (time - last) / more : 0;
  for (uint32_t step = 0; step < std::min(more, steps); ++step)
    interval = dropInterval(interval, count - 1 + step, sample, weight);
  count += more;
  last = std::max(last, time);
}

Table::Table(uint32_t prefixes, uint32_t connections, const uint64_t (&secret)[2])
    : secret_{secret[0], secret[1]},
      prefixes_(prefixes),
      connections_(connections),
      activities_(connections),
      freePrefixes_(places(prefixes)),
      freeConnections_(places(connections)),
      prefixIndex_(prefixes),
      nameIndex_(connections) {}

Connection *Table::find(uint64_t name) {
  const uint32_t at = nameIndex_.find(hash(name), [&](uint32_t each) { return connections_[each].name == name; });
  return at == nowhere ? nullptr : &connections_[at];
}

PrefixRecord *Table::find(const Prefix &prefix) {
  const uint32_t at = prefixIndex_.find(hashed(secret_, prefix.address, prefix.bits),
                                        [&](uint32_t each) { return prefixes_[each].prefix == prefix; });
  return at == nowhere ? nullptr : &prefixes_[at];
}

PrefixRecord *Table::findOrMake(const Prefix &prefix) {
  if (PrefixRecord *found = find(prefix)) return found;
  if (freePrefixes_.empty()) {
    const uint32_t at = idle_.first;
    if (at == nowhere) return nullptr;
    unlink(prefixes_, &PrefixRecord::idle, idle_, at);
    prefixIndex_.erase(hashed(secret_, prefixes_[at].prefix.address, prefixes_[at].prefix.bits), at);
    freePrefixes_.push_back(at);
  }
  const uint32_t at = freePrefixes_.back();
  freePrefixes_.pop_back();
  prefixes_[at] = {.prefix = prefix, .used = true};
  prefixIndex_.insert(hashed(secret_, prefix.address, prefix.bits), at);
  append(prefixes_, &PrefixRecord::idle, idle_, at);
  return &prefixes_[at];
}

Connection *Table::open(uint64_t name, const Prefix &prefix, uint64_t now) {
  if (freeConnections_.empty()) return nullptr;
  PrefixRecord *record = findOrMake(prefix);
  if (!record) return nullptr;
  const uint32_t at = freeConnections_.back(), home = static_cast<uint32_t>(record - prefixes_.data());
  freeConnections_.pop_back();
  nameIndex_.insert(hash(name), at);
  connections_[at] = {.name = name, .prefix = home, .opened = now, .order = ++opens_, .time = now, .roundBegan = now};
  append(connections_, &Connection::siblings, record->members, at);
  if (record->open++ == 0) unlink(prefixes_, &PrefixRecord::idle, idle_, home);
  return &connections_[at];
}

void Table::close(Connection &connection) {
  const uint32_t at = place(connection);
  leave(connection);
  PrefixRecord &record = prefixOf(connection);
  unlink(connections_, &Connection::siblings, record.members, at);
  if (--record.open == 0) append(prefixes_, &PrefixRecord::idle, idle_, connection.prefix);
  nameIndex_.erase(hash(connection.name), at);
  connection.name = 0;
  freeConnections_.push_back(at);
}

void Table::leave(Connection &connection) {
  if (!connection.live) return;
  const uint32_t at = place(connection);
  PrefixRecord &record = prefixOf(connection);
  unlink(activities_, &Activity::links, activity_, at);
  connection.live = false;
  if (connection.steady) {
    --record.steady;
    if (record.oldest == at) record.oldest = nowhere, record.oldestKnown = false;
  } else {
    --record.starting;
    record.startingSum -= connection.window;
  }
}

void Table::update(Connection &connection, uint64_t now, bool steady, uint64_t window) {
  const uint32_t at = place(connection);
  PrefixRecord &record = prefixOf(connection);
  if (connection.live && connection.steady && steady) { // the usual case: it may be the oldest and stays it
    unlink(activities_, &Activity::links, activity_, at);
    append(activities_, &Activity::links, activity_, at);
    connection.touched = now;
    connection.window = window;
    return;
  }
  leave(connection);
  append(activities_, &Activity::links, activity_, at);
  connection.live = true;
  connection.touched = now;
  connection.steady = steady;
  connection.window = window;
  if (steady) {
    ++record.steady;
    const uint32_t oldest = record.oldest;
    if (record.oldestKnown && (oldest == nowhere || connection.order < connections_[oldest].order)) record.oldest = at;
  } else {
    ++record.starting;
    record.startingSum += window;
  }
}

void Table::expire(uint64_t before, uint32_t maxCount) {
  for (; maxCount > 0 && activity_.first != nowhere && connections_[activity_.first].touched < before; --maxCount)
    leave(connections_[activity_.first]);
}

uint32_t Table::oldest(PrefixRecord &record, uint32_t but) {
  const auto firstSteady = [&](uint32_t at) {
    while (at != nowhere && (at == but || !connections_[at].live || !connections_[at].steady))
      at = connections_[at].siblings.after;
    return at;
  };
  if (!record.oldestKnown) {
    const uint32_t excepted = std::exchange(but, nowhere);
    record.oldest = firstSteady(record.members.first);
    record.oldestKnown = true;
    but = excepted;
  }
  return record.oldest == nowhere ? nowhere : firstSteady(record.oldest);
}

size_t Table::bytes() const {
  return prefixes_.capacity() * sizeof(PrefixRecord) + connections_.capacity() * sizeof(Connection) +
         activities_.capacity() * sizeof(Activity) +
         (freePrefixes_.capacity() + freeConnections_.capacity()) * sizeof(uint32_t) + prefixIndex_.bytes() +
         nameIndex_.bytes();
}

} // namespace downbeat::estimator

/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "table.h"

#include <utility>

#include "equations.h"

namespace downbeat::estimator {

namespace {

constexpr uint32_t STEPS = 16; // of one EWMA with one sample: (1/3)^16 of the old is left

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
  for (uint32_t step = 0; step < std::min(more, STEPS); ++step)
    interval = drop_interval(interval, count - 1 + step, sample, weight);
  count += more;
  last = std::max(last, time);
}

Table::Table(uint32_t prefixes, uint32_t connections, const uint64_t (&secret)[2])
    : secret_{secret[0], secret[1]},
      prefixes_(prefixes),
      connections_(connections),
      free_prefixes_(places(prefixes)),
      free_connections_(places(connections)),
      prefix_index_(prefixes),
      name_index_(connections) {}

Connection *Table::find(uint64_t name) {
  const uint32_t at = name_index_.find(hash(name), [&](uint32_t each) { return connections_[each].name == name; });
  return at == NOWHERE ? nullptr : &connections_[at];
}

PrefixRecord *Table::find(const Prefix &prefix) {
  const uint32_t at = prefix_index_.find(hashed(secret_, prefix.address, prefix.bits),
                                         [&](uint32_t each) { return prefixes_[each].prefix == prefix; });
  return at == NOWHERE ? nullptr : &prefixes_[at];
}

PrefixRecord *Table::find_or_make(const Prefix &prefix) {
  if (PrefixRecord *found = find(prefix)) return found;
  if (free_prefixes_.empty()) {
    const uint32_t at = idle_.first;
    if (at == NOWHERE) return nullptr;
    unlink(prefixes_, &PrefixRecord::idle, idle_, at);
    prefix_index_.erase(hashed(secret_, prefixes_[at].prefix.address, prefixes_[at].prefix.bits), at);
    free_prefixes_.push_back(at);
  }
  const uint32_t at = free_prefixes_.back();
  free_prefixes_.pop_back();
  prefixes_[at] = {.prefix = prefix, .used = true};
  prefix_index_.insert(hashed(secret_, prefix.address, prefix.bits), at);
  append(prefixes_, &PrefixRecord::idle, idle_, at);
  return &prefixes_[at];
}

Connection *Table::open(uint64_t name, const Prefix &prefix, uint64_t now) {
  if (free_connections_.empty()) return nullptr;
  PrefixRecord *record = find_or_make(prefix);
  if (!record) return nullptr;
  const uint32_t at = free_connections_.back(), home = static_cast<uint32_t>(record - prefixes_.data());
  free_connections_.pop_back();
  name_index_.insert(hash(name), at);
  connections_[at] = {.name = name, .prefix = home, .opened = now, .order = ++opens_, .time = now, .round_began = now};
  append(connections_, &Connection::siblings, record->members, at);
  if (record->open++ == 0) unlink(prefixes_, &PrefixRecord::idle, idle_, home);
  return &connections_[at];
}

void Table::close(Connection &connection) {
  const uint32_t at = place(connection);
  leave(connection);
  PrefixRecord &record = prefix_of(connection);
  unlink(connections_, &Connection::siblings, record.members, at);
  if (--record.open == 0) append(prefixes_, &PrefixRecord::idle, idle_, connection.prefix);
  name_index_.erase(hash(connection.name), at);
  connection.name = 0;
  free_connections_.push_back(at);
}

void Table::leave(Connection &connection) {
  if (!connection.live) return;
  const uint32_t at = place(connection);
  PrefixRecord &record = prefix_of(connection);
  unlink(connections_, &Connection::activity, activity_, at);
  connection.live = false;
  if (connection.steady) {
    --record.steady;
    if (record.oldest == at) record.oldest = NOWHERE, record.oldest_known = false;
  } else {
    --record.starting;
    record.starting_sum -= connection.window;
  }
}

void Table::update(Connection &connection, uint64_t now, bool steady, uint64_t window) {
  const uint32_t at = place(connection);
  PrefixRecord &record = prefix_of(connection);
  if (connection.live && connection.steady && steady) { // the usual case: it may be the oldest and stays it
    unlink(connections_, &Connection::activity, activity_, at);
    append(connections_, &Connection::activity, activity_, at);
    connection.touched = now;
    connection.window = window;
    return;
  }
  leave(connection);
  append(connections_, &Connection::activity, activity_, at);
  connection.live = true;
  connection.touched = now;
  connection.steady = steady;
  connection.window = window;
  if (steady) {
    ++record.steady;
    const uint32_t oldest = record.oldest;
    if (record.oldest_known && (oldest == NOWHERE || connection.order < connections_[oldest].order)) record.oldest = at;
  } else {
    ++record.starting;
    record.starting_sum += window;
  }
}

void Table::expire(uint64_t before, uint32_t most) {
  for (; most > 0 && activity_.first != NOWHERE && connections_[activity_.first].touched < before; --most)
    leave(connections_[activity_.first]);
}

uint32_t Table::oldest(PrefixRecord &record, uint32_t but) {
  const auto first_steady = [&](uint32_t at) {
    while (at != NOWHERE && (at == but || !connections_[at].live || !connections_[at].steady))
      at = connections_[at].siblings.after;
    return at;
  };
  if (!record.oldest_known) {
    const uint32_t excepted = std::exchange(but, NOWHERE);
    record.oldest = first_steady(record.members.first);
    record.oldest_known = true;
    but = excepted;
  }
  return record.oldest == NOWHERE ? NOWHERE : first_steady(record.oldest);
}

size_t Table::bytes() const {
  return prefixes_.capacity() * sizeof(PrefixRecord) + connections_.capacity() * sizeof(Connection) +
         (free_prefixes_.capacity() + free_connections_.capacity()) * sizeof(uint32_t) + prefix_index_.bytes() +
         name_index_.bytes();
}

} // namespace downbeat::estimator

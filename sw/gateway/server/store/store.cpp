// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "store.h"

#include <algorithm>

namespace downbeat::gateway {
namespace {

// An entry's own size and its node in the table; rows come on top.
constexpr std::size_t entryBytes = sizeof(Store::Entry) + sizeof(Prefix) + 32;
constexpr std::size_t placeBytes = 32; // a row's node among its reporter's

std::uint32_t heard(const Row &row) { return std::max({row.last, row.state.index, row.saved.index}); }

} // namespace

void Store::add(std::uint32_t reporter, const Report &report, Nanoseconds now, Nanoseconds age) {
  const std::uint32_t bucket = bucketOf(now);
  // Another gateway's report counts as older by one bucket rather than as younger.
  const auto ago = static_cast<std::uint32_t>(std::min((age + bucketTime - 1) / bucketTime, Nanoseconds(bucketsKept)));
  if (ago >= bucketsKept) return;
  const auto found = slots_.find(report.prefix);
  Entry &entry = found == slots_.end() ? make(report.prefix) : touch(found->second);
  const std::size_t before = weight(entry);
  ++entry.reports;
  row(entry, reporter).add(report, bucket - ago);
  weigh(before, weight(entry));
  evict();
}

Response Store::request(const Prefix &prefix, Nanoseconds now) {
  const auto found = slots_.find(prefix);
  if (found == slots_.end()) return {.prefix = prefix};
  Entry &entry = touch(found->second);
  ++entry.queries;
  return peek(entry, now);
}

const Store::Entry *Store::find(const Prefix &prefix) const {
  const auto found = slots_.find(prefix);
  return found == slots_.end() ? nullptr : &entries_[found->second];
}

Response Store::peek(const Entry &entry, Nanoseconds now) const {
  return estimate(entry.prefix, entry.rows, now, limits_.aggregate, limits_.minReports);
}

void Store::restore(Entry entry) {
  Entry &made = slots_.contains(entry.prefix) ? touch(slots_.at(entry.prefix)) : make(entry.prefix);
  const std::size_t before = weight(made);
  for (const Row &each : made.rows) release(each);
  made.rows = std::move(entry.rows);
  for (Row &each : made.rows) hold(each, newest_);
  made.reports = entry.reports;
  made.queries = entry.queries;
  weigh(before, weight(made));
  evict();
}

std::size_t Store::sweep(std::size_t slot, std::size_t max, Nanoseconds now,
                         const std::function<void(const Entry &)> &see) {
  const std::uint32_t bucket = bucketOf(now);
  for (; max && slot < entries_.size(); --max, ++slot) {
    Entry &entry = entries_[slot];
    if (!entry.used) continue;
    const std::size_t before = weight(entry);
    for (Row &each : entry.rows) each.forget(bucket);
    std::erase_if(entry.rows, [this](const Row &each) {
      if (each.empty()) release(each);
      return each.empty();
    });
    weigh(before, weight(entry));
    if (entry.rows.empty())
      remove(static_cast<std::uint32_t>(slot));
    else if (see)
      see(entry);
  }
  return slot < entries_.size() ? slot : 0;
}

void Store::each(std::size_t max, const std::function<void(const Entry &)> &see) const {
  for (std::uint32_t slot = newest_; slot != none && max; --max, slot = entries_[slot].older) see(entries_[slot]);
}

Store::Entry &Store::touch(std::uint32_t slot) {
  if (slot != newest_) {
    unlink(slot);
    link(slot);
  }
  for (const Row &each : entries_[slot].rows) {
    std::list<std::uint32_t> &rows = held_.at(each.reporter);
    rows.splice(rows.end(), rows, each.place);
  }
  return entries_[slot];
}

Store::Entry &Store::make(const Prefix &prefix) {
  while (slots_.size() >= limits_.prefixes) drop(largest());
  std::uint32_t slot = static_cast<std::uint32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  entries_[slot].prefix = prefix;
  entries_[slot].used = true;
  slots_.emplace(prefix, slot);
  link(slot);
  bytes_ += entryBytes;
  counters_.prefixes.set(slots_.size());
  return entries_[slot];
}

Row &Store::row(Entry &entry, std::uint32_t reporter) {
  const auto found = std::ranges::find(entry.rows, reporter, &Row::reporter);
  if (found != entry.rows.end()) return *found;
  if (entry.rows.size() < limits_.reporters) {
    entry.rows.emplace_back().reporter = reporter;
    hold(entry.rows.back(), newest_);
    return entry.rows.back();
  }
  Row &silent = *std::ranges::min_element(entry.rows, {}, heard);
  release(silent);
  silent = Row{.reporter = reporter};
  hold(silent, newest_);
  return silent;
}

void Store::hold(Row &row, std::uint32_t slot) {
  std::list<std::uint32_t> &rows = held_[row.reporter];
  holders_.erase({rows.size(), row.reporter});
  row.place = rows.insert(rows.end(), slot);
  holders_.emplace(rows.size(), row.reporter);
}

void Store::release(const Row &row) {
  const auto found = held_.find(row.reporter);
  std::list<std::uint32_t> &rows = found->second;
  holders_.erase({rows.size(), row.reporter});
  rows.erase(row.place);
  if (rows.empty())
    held_.erase(found);
  else
    holders_.emplace(rows.size(), row.reporter);
}

void Store::forget(std::uint32_t reporter) {
  while (held_.contains(reporter)) drop(reporter);
}

void Store::drop(std::uint32_t reporter) {
  const std::uint32_t slot = held_.at(reporter).front();
  Entry &entry = entries_[slot];
  const auto row = std::ranges::find(entry.rows, reporter, &Row::reporter);
  const std::size_t before = weight(entry);
  release(*row);
  entry.rows.erase(row);
  weigh(before, weight(entry));
  if (!entry.rows.empty()) return;
  remove(slot);
  counters_.evictedPrefixes.add();
}

void Store::link(std::uint32_t slot) {
  entries_[slot].newer = none;
  entries_[slot].older = newest_;
  if (newest_ != none) entries_[newest_].newer = slot;
  newest_ = slot;
}

void Store::unlink(std::uint32_t slot) {
  const auto [newer, older] = std::pair(entries_[slot].newer, entries_[slot].older);
  (newer == none ? newest_ : entries_[newer].older) = older;
  if (older != none) entries_[older].newer = newer;
}

void Store::remove(std::uint32_t slot) {
  unlink(slot);
  for (const Row &each : entries_[slot].rows) release(each);
  bytes_ -= entryBytes + weight(entries_[slot]);
  slots_.erase(entries_[slot].prefix);
  entries_[slot] = Entry{};
  free_.push_back(slot);
  counters_.prefixes.set(slots_.size());
}

void Store::evict() {
  while (bytes_ > limits_.bytes && slots_.size() > 1) drop(largest());
}

void Store::weigh(std::size_t before, std::size_t after) { bytes_ = bytes_ - before + after; }

std::size_t Store::weight(const Entry &entry) {
  std::size_t sum = (entry.rows.capacity() - entry.rows.size()) * sizeof(Row);
  for (const Row &each : entry.rows) sum += each.bytes() + placeBytes;
  return sum;
}

} // namespace downbeat::gateway

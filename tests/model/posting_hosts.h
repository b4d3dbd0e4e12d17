// Small host programs for tests.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hw/hash.h"
#include "sims/workload/graph/host_services.h"

namespace espalier::test {

// In the order of the posts; `at` never goes back, and is at least 2.
struct PlannedPost {
  CollectiveNumber collective = 0;
  Cycle at = 0;
  Bytes bytes = 0;  // 0: the collective's
};
using PostList = std::vector<PlannedPost>;

// Each rank posts what its list says, woken a cycle before.
class PostingHosts : public HostProgram {
 public:
  // By collective; by rank.
  PostingHosts(std::vector<HostCollective> what, std::vector<PostList> posts)
      : what_(std::move(what)), posts_(std::move(posts)), next_(posts_.size(), 0) {
    done_.assign(posts_.size(), std::vector<Cycle>(what_.size(), kNever));
    for (const PostList& of_rank : posts_) left_ += of_rank.size();
  }

  void start(HostServices& services) override {
    services_ = &services;
    for (std::size_t r = 0; r < posts_.size(); ++r) {
      for (const PlannedPost& post : posts_[r]) services.wake(RankId(r), post.at - 1);
    }
  }
  void woken(RankId rank, Cycle now) override {
    const PlannedPost& post = posts_[rank.index()][next_[rank.index()]++];
    HostCollective what = what_[post.collective];
    if (post.bytes != 0) what.bytes = post.bytes;
    services_->post(rank, post.collective, what, now + 1);
  }
  void received(const HostMessage&, Cycle) override {}
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override {
    done_[rank.index()][collective] = now;
    --left_;
  }
  [[nodiscard]] bool finished() const override { return left_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return fmt::format("<tensor {}>", collective);
  }
  void explain(WaitList&) const override {}

  [[nodiscard]] const std::vector<std::vector<Cycle>>& done() const { return done_; }

 private:
  HostServices* services_ = nullptr;
  std::vector<HostCollective> what_;
  std::vector<PostList> posts_;
  std::vector<std::size_t> next_;         // by rank
  std::vector<std::vector<Cycle>> done_;  // by rank and collective
  std::size_t left_ = 0;
};

// Hosts that post no collectives.
class TalkingHosts : public HostProgram {
 public:
  void start(HostServices& services) override {
    services_ = &services;
    begin();
  }
  void woken(RankId, Cycle) override {}
  void collective_done(RankId, CollectiveNumber, Cycle) override {}
  [[nodiscard]] std::string name_of(CollectiveNumber) const override { return {}; }
  void explain(WaitList&) const override {}

 protected:
  virtual void begin() = 0;
  HostServices& services() { return *services_; }

 private:
  HostServices* services_ = nullptr;
};

// Ranks 0 and 1 answer each other at once.
class AnsweringHosts : public TalkingHosts {
 public:
  AnsweringHosts(Bytes bytes, std::size_t messages) : bytes_(bytes), messages_(messages) {}

  void received(const HostMessage& message, Cycle now) override {
    times_.push_back(now);
    if (!finished()) services().send({message.to, message.from, bytes_, times_.size()}, now + 1);
  }
  [[nodiscard]] bool finished() const override { return times_.size() == messages_; }
  [[nodiscard]] const std::vector<Cycle>& times() const { return times_; }

 private:
  void begin() override { services().send({RankId(0), RankId(1), bytes_, 0}, 1); }

  Bytes bytes_;
  std::size_t messages_;
  std::vector<Cycle> times_;
};

// Rank 1 sends a message to itself.
class LonelyHost : public TalkingHosts {
 public:
  void received(const HostMessage&, Cycle) override {}
  [[nodiscard]] bool finished() const override { return false; }

 private:
  void begin() override { services().send({RankId(1), RankId(1), 8, 0}, 1); }
};

// Each rank sends `messages` of very different sizes to another one, all at once.
class ManyMessages : public TalkingHosts {
 public:
  ManyMessages(std::size_t ranks, std::size_t messages, std::uint64_t seed)
      : ranks_(ranks), messages_(messages), seed_(seed), next_(ranks, 0) {}

  void received(const HostMessage& message, Cycle) override {
    std::uint64_t& next = next_[message.to.index()];
    if (message.tag != next || message.to != peer(message.from)) ++out_of_order_;
    next = message.tag + 1;
    ++received_;
  }
  [[nodiscard]] bool finished() const override { return received_ == ranks_ * messages_; }
  [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_; }
  [[nodiscard]] std::uint64_t received_count() const { return received_; }

 private:
  void begin() override {
    for (std::size_t r = 0; r < ranks_; ++r) {
      for (std::uint64_t m = 0; m < messages_; ++m) {
        const Bytes bytes = mix(mix(seed_, r), m) % 2 == 0 ? 16 : 2000;
        services().send({RankId(r), peer(RankId(r)), bytes, m}, 1);
      }
    }
  }
  [[nodiscard]] RankId peer(RankId rank) const {
    return RankId((rank.index() + ranks_ / 2 + 1) % ranks_);
  }

  std::size_t ranks_;
  std::size_t messages_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> next_;  // by receiver
  std::uint64_t out_of_order_ = 0;
  std::uint64_t received_ = 0;
};

// All ranks post one collective, and rank 0 sends a message to rank 1 ten cycles later.
class PostThenSend : public HostProgram {
 public:
  PostThenSend(std::size_t ranks, Bytes bytes, Cycle at)
      : ranks_(ranks), bytes_(bytes), at_(at), left_(ranks + 1) {}

  void start(HostServices& services) override {
    for (std::size_t r = 0; r < ranks_; ++r)
      services.post(RankId(r), 0, {CollectiveOp::all_reduce, bytes_}, at_);
    services.send({RankId(0), RankId(1), 32, 0}, at_ + 10);
  }
  void woken(RankId, Cycle) override {}
  void received(const HostMessage&, Cycle now) override {
    received_at_ = now;
    --left_;
  }
  void collective_done(RankId, CollectiveNumber, Cycle now) override {
    done_at_ = now;
    --left_;
  }
  [[nodiscard]] bool finished() const override { return left_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber) const override { return "<tensor>"; }
  void explain(WaitList&) const override {}

  [[nodiscard]] Cycle received_at() const { return received_at_; }
  [[nodiscard]] Cycle done_at() const { return done_at_; }

 private:
  std::size_t ranks_;
  Bytes bytes_;
  Cycle at_;
  std::size_t left_;
  Cycle received_at_ = 0;
  Cycle done_at_ = 0;
};

}  // namespace espalier::test

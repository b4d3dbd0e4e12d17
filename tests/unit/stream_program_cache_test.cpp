// Programs are loaded once per collective while there is room for them.
#include "sims/system/stream_programs.h"

#include <catch2/catch.hpp>
#include <vector>

namespace espalier {
namespace {

// Programs of 10 operations; notes the sizes that it loads.
class Loader {
 public:
  StreamProgramCache::Program operator()(const HostCollective& what) {
    loaded.push_back(what.bytes);
    auto program = std::make_shared<StreamProgram>(
        StreamProgram{ScheduleTables(topology_), {}, {}, {}, {}, 0, 0, false, {}});
    program->operations = 10;
    return program;
  }
  std::vector<Bytes> loaded;

 private:
  Topology topology_{"empty"};
};

HostCollective all_reduce(int bytes) {
  return {CollectiveOp::all_reduce, static_cast<Bytes>(bytes)};
}

TEST_CASE("A program is loaded once per operation, size and group, whatever its priority") {
  StreamProgramCache cache(100);
  Loader loader;
  const auto load = [&](const HostCollective& what) { return loader(what); };
  const auto first = cache.get(all_reduce(8), load);
  CHECK(cache.get(all_reduce(16), load) != first);
  CHECK(cache.get(all_reduce(8), load) == first);
  CHECK(cache.get({CollectiveOp::all_reduce, 8, 0, 5}, load) == first);
  CHECK(cache.get({CollectiveOp::all_reduce, 8, 1}, load) != first);
  CHECK(cache.get({CollectiveOp::all_gather, 8}, load) != first);
  CHECK(loader.loaded == std::vector<Bytes>{8, 16, 8, 8});
}

TEST_CASE("The program asked for longest ago goes when there are too many operations") {
  StreamProgramCache cache(30);
  Loader loader;
  const auto load = [&](const HostCollective& what) { return loader(what); };
  for (const int bytes : {1, 2, 3, 1, 4, 1, 3, 2}) (void)cache.get(all_reduce(bytes), load);
  // 2 went for 4; then 4 went for 2.
  CHECK(loader.loaded == std::vector<Bytes>{1, 2, 3, 4, 2});
  (void)cache.get(all_reduce(4), load);
  CHECK(loader.loaded.back() == 4);
}

TEST_CASE("A program in use stays, whatever comes") {
  StreamProgramCache cache(20);
  Loader loader;
  const auto load = [&](const HostCollective& what) { return loader(what); };
  const auto used = cache.get(all_reduce(1), load);
  for (const int bytes : {2, 3, 4, 5}) (void)cache.get(all_reduce(bytes), load);
  CHECK(cache.get(all_reduce(1), load) == used);
  CHECK(loader.loaded == std::vector<Bytes>{1, 2, 3, 4, 5});
}

}  // namespace
}  // namespace espalier

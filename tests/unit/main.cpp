// SystemC's library has a main of its own and wants an sc_main: unit tests run without the kernel,
// in ours.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

extern "C" int sc_main(int, char**) { return 1; }

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }

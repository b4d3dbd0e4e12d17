// All test programs run inside sc_main, with kernel warnings as errors, as the program itself does.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>
#include <systemc>

#include "hw/clock/clock_domain.h"

int sc_main(int argc, char** argv) {
  espalier::prepare_kernel();
  return Catch::Session().run(argc, argv);
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}

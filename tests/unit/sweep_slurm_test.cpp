// The scripts that Slurm gets.
#include <catch2/catch.hpp>

#include "sims/experiment/sweep/slurm.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("Both jobs have the options, each a word, and only the array has its tasks") {
  SlurmJob job;
  job.name = "radix";
  job.working_folder = "/home/a user";
  job.run_command = {"espalier", "sweep", "run", "a b.yaml"};
  job.gather_command = {"espalier", "sweep", "gather", "a b.yaml"};
  job.log_folder = "/scratch/100%/sweeps/radix";
  job.tasks = 8;
  job.options = {"--account=lab", "--comment=a b", "--array=1-8%2", "--output=mine"};
  const std::string array = array_script(job);
  CHECK_THAT(array, StartsWith("#!/bin/bash\n") && Contains("\n#SBATCH --array=1-8\n") &&
                        Contains("\n#SBATCH --array=1-8%2\n") &&
                        Contains("\n#SBATCH --account=lab\n") &&
                        Contains("\n#SBATCH '--comment=a b'\n") &&
                        Contains("\n#SBATCH '--chdir=/home/a user'\n") &&
                        Contains("--output=/scratch/100%%/sweeps/radix/slurm-%A_%a.log\n") &&
                        EndsWith("\nexec espalier sweep run 'a b.yaml'\n"));
  const std::string gather = gather_script(job);
  CHECK_THAT(gather, StartsWith("#!/bin/bash\n") && Contains("\n#SBATCH --account=lab\n") &&
                         Contains("\n#SBATCH '--comment=a b'\n") && !Contains("--array") &&
                         EndsWith("\nexec espalier sweep gather 'a b.yaml'\n"));
  // Its own log is the one that counts.
  CHECK(gather.find("--output=mine") <
        gather.find("--output=/scratch/100%%/sweeps/radix/slurm-gather-%j.log"));
}

# The architecture: one line for each folder of production code, from the hardware up to the command line. A folder is a
# CMake target, and includes headers of itself and of the folders behind USES, of no other. tests/layers.cmake checks every
# #include line against this table, and that a folder stands below those which use it: the table has no circle.
# LINKS: libraries outside the project. ONCE: code that runs once for a point or a file (cmake/layers.cmake).

# Hardware. hw/clock is the lowest folder that knows SystemC, so everything that does not use it is plain C++.
espalier_folder(hw)
espalier_folder(hw/topology ONCE USES hw LINKS fmt::fmt)
espalier_folder(hw/topology/families ONCE USES hw hw/topology LINKS fmt::fmt)
espalier_folder(hw/cost ONCE USES hw)
espalier_folder(hw/clock USES hw hw/topology LINKS PkgConfig::SYSTEMC)

# Algorithms: plain C++.
espalier_folder(alg/routes ONCE USES hw hw/topology LINKS fmt::fmt)
espalier_folder(alg/schedule ONCE USES hw hw/topology alg/routes LINKS fmt::fmt)
espalier_folder(alg/flow ONCE)
espalier_folder(alg/time USES hw/topology alg/routes alg/schedule LINKS fmt::fmt)
espalier_folder(alg/packing USES hw/topology alg/flow alg/routes alg/schedule alg/time LINKS fmt::fmt)
espalier_folder(alg/plans ONCE USES hw hw/topology alg/routes alg/schedule LINKS fmt::fmt)
espalier_folder(alg/certify ONCE USES hw/topology alg/routes alg/schedule alg/plans LINKS fmt::fmt)
espalier_folder(alg/generators ONCE USES hw hw/topology alg/routes alg/schedule alg/time alg/packing alg/certify LINKS fmt::fmt)
espalier_folder(alg/bounds ONCE USES hw/topology alg/flow alg/routes alg/schedule alg/plans LINKS fmt::fmt)
espalier_folder(alg/program USES hw hw/topology alg/routes alg/schedule alg/time alg/generators LINKS fmt::fmt)
espalier_folder(alg/rank_order ONCE USES hw alg/generators LINKS fmt::fmt)
espalier_folder(alg USES alg/schedule alg/generators alg/plans alg/program LINKS fmt::fmt)

# Flow control and routers: the flit engine, and the train engine beside it.
espalier_folder(flowctl USES hw hw/topology hw/clock LINKS fmt::fmt)
espalier_folder(flowctl/train USES hw hw/clock flowctl)
espalier_folder(router USES hw hw/topology hw/clock flowctl LINKS fmt::fmt)
espalier_folder(router/rtl USES hw router LINKS ${espalier_rtl} fmt::fmt)
espalier_folder(router/train USES hw/clock flowctl flowctl/train router LINKS fmt::fmt)

# Network interfaces: the back end, and the engines that decide what it sends.
espalier_folder(ni USES hw hw/clock flowctl flowctl/train alg/schedule LINKS fmt::fmt)
espalier_folder(ni/train USES flowctl flowctl/train ni)
espalier_folder(ni/engines USES hw hw/topology alg/routes alg/schedule alg/plans alg/program ni LINKS fmt::fmt)
espalier_folder(ni/rtl USES hw ni/engines LINKS ${espalier_rtl} fmt::fmt)

# Sockets for models outside the project: TLM-2.0 at NIs, and routers and NIs behind signals.
espalier_folder(sockets/tlm USES hw hw/clock ni LINKS fmt::fmt)
espalier_folder(sockets/signals USES hw hw/clock flowctl router ni alg/schedule LINKS fmt::fmt)

# The application. Text with places: numbers, names, YAML, JSON, and errors that point into a file.
espalier_folder(sims/text ONCE LINKS PkgConfig::YAMLCPP nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/process ONCE)
espalier_folder(sims/workload/graph USES hw hw/topology flowctl alg/routes alg/schedule LINKS fmt::fmt)
espalier_folder(sims/workload/training ONCE USES hw hw/topology alg/schedule alg/plans sims/workload/graph LINKS fmt::fmt)
espalier_folder(sims/workload/coordination USES hw sims/workload/graph sims/workload/training LINKS fmt::fmt)
espalier_folder(sims/point ONCE USES hw hw/topology hw/topology/families hw/cost flowctl router ni alg/routes alg/schedule alg/plans alg/program alg/rank_order
                sims/workload/graph sims/workload/training sims/workload/coordination)
espalier_folder(sims/formats ONCE USES hw hw/topology hw/topology/families alg/routes alg/schedule alg/rank_order sims/text sims/point sims/workload/graph
                sims/workload/training LINKS ${espalier_chakra} nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/formats/program ONCE USES alg/program sims/text LINKS pugixml::pugixml fmt::fmt)
espalier_folder(sims/formats/networks ONCE USES hw/topology hw/topology/families sims/text sims/point sims/formats sims/formats/program
                LINKS pugixml::pugixml fmt::fmt)
espalier_folder(sims/model ONCE USES hw hw/topology hw/topology/families hw/cost flowctl alg alg/routes alg/generators alg/plans alg/program sims/text sims/point
                sims/workload/training sims/workload/coordination sims/formats sims/formats/program sims/formats/networks LINKS fmt::fmt)
espalier_folder(sims/nccl ONCE USES hw alg/schedule sims/text LINKS fmt::fmt)
espalier_folder(sims/config ONCE USES hw/topology hw/cost flowctl router/rtl ni/rtl alg alg/routes alg/plans sims/text sims/nccl
                sims/point sims/workload/training sims/formats sims/formats/networks sims/model LINKS nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/system USES hw hw/topology hw/clock flowctl flowctl/train router router/train router/rtl ni ni/train ni/engines
                ni/rtl sockets/tlm sockets/signals alg/routes alg/schedule alg/plans alg/program alg/certify sims/point sims/model
                sims/workload/graph LINKS fmt::fmt)
espalier_folder(sims/observe/waves USES hw hw/topology sims/text LINKS ${espalier_fst} fmt::fmt)
espalier_folder(sims/observe/record USES hw hw/topology flowctl ni ni/engines sims/system LINKS fmt::fmt)
espalier_folder(sims/observe/scopes USES hw hw/topology flowctl ni alg/schedule sims/system sims/observe/record sims/observe/waves
                LINKS fmt::fmt)
espalier_folder(sims/observe/timeline ONCE USES hw/topology sims/system sims/workload/graph sims/observe/record sims/observe/waves
                LINKS nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/observe/explain ONCE USES hw hw/topology ni ni/engines alg/routes alg/schedule alg/program sims/point
                sims/model sims/system sims/observe/record LINKS nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/choose ONCE USES hw/topology ni/engines alg/routes alg/schedule alg/time alg/generators alg/plans alg/program alg/certify
                sims/text sims/process sims/point sims/model sims/config sims/system sims/workload/graph
                LINKS nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/experiment ONCE USES hw hw/topology hw/cost flowctl flowctl/train ni/engines ni/rtl alg/routes alg/schedule alg/generators
                alg/plans alg/certify alg/bounds sims/workload/graph sims/workload/training sims/workload/coordination
                sims/text sims/process sims/point sims/model sims/config sims/system sims/observe/record sims/observe/explain sims/choose
                LINKS nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/study ONCE USES hw hw/topology alg/generators alg/rank_order sims/text sims/process sims/point sims/formats sims/config
                sims/model sims/observe/explain sims/experiment LINKS nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/page ONCE USES hw/topology alg alg/routes alg/schedule alg/time alg/certify sims/text sims/point sims/model
                sims/config sims/choose sims/experiment LINKS nlohmann_json::nlohmann_json fmt::fmt)
espalier_folder(sims/synthesis ONCE USES hw/cost sims/process LINKS fmt::fmt)
espalier_folder(sims/cli PROGRAM espalier ONCE USES hw/topology hw/topology/families hw/cost hw/clock flowctl alg alg/routes alg/schedule alg/program alg/certify
                sims/text sims/process sims/workload/graph sims/workload/training sims/point sims/formats sims/formats/program sims/formats/networks sims/model
                sims/config sims/system sims/observe/scopes sims/observe/timeline sims/observe/explain sims/choose sims/experiment
                sims/study sims/page sims/synthesis LINKS CLI11::CLI11)

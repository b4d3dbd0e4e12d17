# Espalier on Debian 12: docker build -t espalier . && docker run --rm -v "$PWD:/work" espalier run configs/mesh_8x8.yaml
FROM debian:12 AS build
COPY . /espalier
WORKDIR /espalier
RUN CMAKE_OPTIONS=-DESPALIER_TESTS=OFF sims/build.sh release
RUN cmake --install build/release --prefix /usr/local

FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends libsystemc libyaml-cpp0.7 libfmt9 libpugixml1v5 zlib1g && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
WORKDIR /work
ENTRYPOINT ["espalier"]

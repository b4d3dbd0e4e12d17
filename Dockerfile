# Espalier on Debian 12: docker build -t espalier . && docker run --rm -v "$PWD:/work" espalier run configs/mesh_8x8.yaml
FROM debian:12 AS build
COPY . /espalier
WORKDIR /espalier
RUN sims/install-packages.sh dpkg-dev && sims/build.sh release espalier && cmake --build build/release --target package

FROM debian:12
COPY --from=build /espalier/build/release/espalier_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/espalier_*.deb && rm -rf /var/lib/apt/lists/* /tmp/*.deb
WORKDIR /work
ENTRYPOINT ["espalier"]

# smoothc with the C compiler that it needs:  docker build -t smoothc . && docker run --rm -v "$PWD:/work" smoothc run x.smooth f 1
FROM rust:1.90-slim AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked && strip target/release/smoothc

FROM debian:stable-slim
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY --from=build /source/target/release/smoothc /usr/local/bin/
COPY --from=build /source/LICENSE-* /usr/local/share/doc/smoothc/
WORKDIR /work
ENTRYPOINT ["smoothc"]

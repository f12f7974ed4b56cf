# syntax=docker/dockerfile:1

# One small image for both programs, and the command audit for a CronJob: their bundles, a stripped Node and the libraries
# that it links. No shell, no package manager, nothing that the programs do not run.
ARG NODE_VERSION=24.21.0
# Where it is built from: a mirror of yours, or a digest, by --build-arg BASE=mirror.example.com/node@sha256:…
ARG BASE=node:${NODE_VERSION}-bookworm-slim
# --build-arg SSH=/usr/bin/ssh makes the variant that reads repositories over ssh: tag it -ssh.
ARG SSH=

FROM ${BASE} AS build
ARG SSH
RUN apt-get update && apt-get install -y --no-install-recommends binutils ${SSH:+openssh-client} && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json ./
# --include=optional: esbuild's own binary is an optional dependency.
RUN npm ci --ignore-scripts --include=optional --no-audit --no-fund
COPY . .
# The bill of materials goes along: what the lockfile pins of what may be shipped.
RUN node scripts/build.ts && \
    node scripts/sbom.ts > dist/sbom.cdx.json && \
    sh scripts/image-root.sh "$(command -v node)" dist /image $SSH

FROM scratch
COPY --from=build /image /
LABEL org.opencontainers.image.title="kubelet-gitops" \
      org.opencontainers.image.description="Reconciler and node agent: kubelet configuration from git" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 65532:65532
ENTRYPOINT ["/usr/bin/node"]
CMD ["--max-semi-space-size=2", "--max-old-space-size=256", "--heap-growing-percent=50", "--no-incremental-marking", "--expose-gc", "/app/reconciler.js"]

import type { HostFacts } from '#agent/preflight/host-facts.ts';

/** A machine of which nothing could be seen. */
export const NO_FACTS: HostFacts = {
  cgroups: new Map(),
  cgroupUse: new Map(),
  coreOf: new Map(),
  dropIns: [],
  paths: new Map(),
  sysctls: new Map(),
  realPaths: new Map(),
  ownPorts: new Set(),
  ownRuntimes: new Set(),
};

import { KUBERNETES } from './binaries.ts';

/** Of the kubelet that runs here: 20, 37. */
export const MINOR = Number(KUBERNETES.slice(2));

/** What tells the kubelet where its container runtime is. */
export const runtimeFlags = (endpoint: string): readonly string[] => [
  // Until 1.23 it would look for Docker otherwise; from 1.27 on it does not know the flag.
  ...(MINOR < 27 ? ['--container-runtime=remote'] : []),
  `--container-runtime-endpoint=${endpoint}`,
];

/** Fields without which the kubelet would not start on a machine with cgroups v1. From 1.35 on it has to be told that it may. */
export const HERE: Readonly<Record<string, unknown>> = MINOR < 35 ? {} : { failCgroupV1: false };

import { readFileSync } from 'node:fs';

/**
 * A kubelet that has so little time to hear from its container runtime ends a second after its start, 1.20 with status 255 and 1.37 with
 * status 1.
 * `validate` warns of it; nothing that the agent looks at tells beforehand.
 */
export const CRASHES = { runtimeRequestTimeout: '1ns' } as const;

/** The unit of the nodes here stops the kubelet's process with it before it does anything: it is there, and answers nobody. */
export const HANGS = { maxPods: 9191 } as const;

/**
 * More than any machine has left of what preflight does not look at: the kubelet is well, and would evict whatever it may. What it
 * counts as memory in a container on cgroups v1 has no bound, so that it never comes under pressure of that kind here.
 */
export const STARVES = {
  evictionHard: {
    'imagefs.available': '99%',
    'pid.available': readFileSync('/proc/sys/kernel/pid_max', 'utf8').trim(),
  },
} as const;

/**
 * A kubelet 1.20 that has so little time to hear from its container runtime ends with status 255, a second after its start.
 * Nothing about the config or the machine tells beforehand.
 */
export const CRASHES = { runtimeRequestTimeout: '1ns' } as const;

/** The unit of the nodes here stops the kubelet's process with it before it does anything: it is there, and answers nobody. */
export const HANGS = { maxPods: 9191 } as const;

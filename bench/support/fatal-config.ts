/**
 * A config that passes every check and that a kubelet 1.20 ends of at each start: it refuses sysctls that it does not
 * know to belong to a namespace, and says so only to its log.
 */
export const FATAL_CONFIG = { allowedUnsafeSysctls: ['kubelet-gitops.nobody_knows_this'] } as const;

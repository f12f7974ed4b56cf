import type { ServiceStatus } from './kubelet-service.ts';

/** Programs that start the kubelet themselves, and wait for an API server and import images before. */
export const STARTER_PROGRAMS = ['k3s', 'rke2', 'k0s'] as const;
export type StarterProgram = (typeof STARTER_PROGRAMS)[number];

/** A program that has not started the kubelet yet in the present run of its unit. */
export interface KubeletStarter {
  readonly program: StarterProgram;
  /** The API server or etcd runs on this node: the program waits for nothing elsewhere. */
  readonly hostsServer: boolean;
}

/**
 * Who is still to start the kubelet in the present run of its unit. Undefined where it began, and where nobody can tell: then all time
 * counts for or against a config. Never rejects.
 */
export type ReadKubeletStart = (status: ServiceStatus) => Promise<KubeletStarter | undefined>;

/** The status with the ends of a kubelet that its unit does not show among `automaticRestarts`. Never rejects. */
export type CountEnds = (status: ServiceStatus, isHealthy: boolean) => Promise<ServiceStatus>;

import type { Kube } from '#shared/kube/kube.ts';
import type { Raw } from './raw.ts';

/** An API server to be tried: with the project's CRDs, the namespace `kubelet-gitops` and the agent's rights installed. */
export interface Connection {
  /** May do everything. */
  readonly kube: Kube;
  readonly raw: Raw;
  /** 37 of a server 1.37: newer ones say some things in other words. */
  readonly minor: number;
  /** A token of the service account `kubelet-gitops/kubelet-gitops-agent`. */
  readonly agentToken: string;
  /** Makes the server forget what it could go on from, where that can be brought about. */
  readonly forgetHistory?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Brings up a server, or says why there can be none here. */
export type Connect = () => Promise<Connection | { readonly skip: string }>;

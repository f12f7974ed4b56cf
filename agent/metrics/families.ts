import { LOCAL, UNKNOWN_CONFIG } from '#shared/contract/api/kubelet-node.ts';
import type { NodeReport } from '../report/kubelet-node-status.ts';
import { activeOf, type State, type Target } from '../decide/state.ts';
import type { Counts } from './trial-counts.ts';
import type { Family } from './text-format.ts';
import { X509Certificate } from 'node:crypto';

/** Everything that the agent's metrics speak of. */
export interface AgentView {
  readonly state: State;
  /** What is reported of the node; undefined before the first turn. */
  readonly status:
    | (Pick<NodeReport, 'phase' | 'conditions'> & {
        readonly status?: Pick<NodeReport['status'], 'error' | 'active'>;
      })
    | undefined;
  readonly counts: Counts;
  readonly version: string;
  /** The certificate that the kubelet was last seen to serve with, as DER. */
  readonly certificate?: Buffer | undefined;
}

const PREFIX = 'kubelet_gitops_node_';
const PHASES = ['Idle', 'Staging', 'Trial', 'FallingBack', 'Drifted', 'Broken'] as const;

/**
 * The first four have the names, labels and meanings of the kubelet's own gauges of Dynamic Kubelet Configuration
 * (`kubelet_node_config_*`, Kubernetes 1.11 to 1.23), with another prefix.
 */
export function familiesOf({ state, status, counts, version, certificate }: AgentView): readonly Family[] {
  // What keeps an assignment from being taken up may be known to this process alone.
  const error = status?.status === undefined ? state.error : (status.status.error ?? null);
  const known = status?.status?.active?.name === UNKNOWN_CONFIG ? UNKNOWN_CONFIG : LOCAL;
  return [
    config('config_assigned', 'The config that the node is to run, and whose copy is on its disk.', state.assigned),
    config('config_active', 'The config that the kubelet was last given.', activeOf(state), known),
    config('config_last_known_good', 'The config that the node falls back to.', state.lastKnownGood, known),
    gauge('config_error', 'Whether the assigned config does not run because of an error.', [
      { value: error === null ? 0 : 1 },
    ]),
    gauge(
      'config_error_info',
      'Always 1 while there is an error; says which.',
      error === null ? [] : [{ labels: { reason: error.reason }, value: 1 }],
    ),
    gauge(
      'phase',
      '1 for what the agent is at, 0 for the others.',
      PHASES.map((phase) => ({ labels: { phase }, value: phase === status?.phase ? 1 : 0 })),
    ),
    gauge(
      'condition',
      'A condition of the KubeletNode: 1 for True, 0 for False, -1 for Unknown.',
      (status?.conditions ?? []).map(({ type, status: is }) => ({
        labels: { condition: type },
        value: is === 'True' ? 1 : is === 'False' ? 0 : -1,
      })),
    ),
    gauge('rejected_configs', 'Configs that failed on this node and are remembered.', [
      { value: state.rejected.length },
    ]),
    counter(
      'trials_total',
      'Trials that ended since the agent started, by how.',
      Object.entries(counts.trials).map(([result, value]) => ({ labels: { result }, value })),
    ),
    counter(
      'fallbacks_total',
      'Configs that were taken back since the agent started, by reason.',
      Object.entries(counts.fallbacks).map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    ...validityFamilies(certificate),
    gauge('agent_info', 'Always 1; says which release runs.', [{ labels: { version }, value: 1 }]),
  ];
}

type Samples = Family['samples'];
const gauge = (name: string, help: string, samples: Samples): Family => ({
  name: PREFIX + name,
  help,
  type: 'gauge',
  samples,
});
const counter = (name: string, help: string, samples: Samples): Family => ({
  ...gauge(name, help, samples),
  type: 'counter',
});

function validityFamilies(certificate: Buffer | undefined): readonly Family[] {
  const validity = certificate && validityOf(certificate);
  const labels = { purpose: 'kubelet-serving-certificate' };
  const sample = (value: number | undefined): Samples => (value === undefined ? [] : [{ labels, value }]);
  const lasts = validity && validity.toSeconds - validity.fromSeconds;
  return [
    gauge('expiration_timestamp_seconds', 'When a certificate ends that the node needs.', sample(validity?.toSeconds)),
    gauge('validity_seconds', 'How long that certificate is good, from its first moment to its last.', sample(lasts)),
  ];
}

/** One series at any time: the labels are the value. */
function config(name: string, help: string, target: Target, none: string = LOCAL): Family {
  const source = target?.source;
  const labels = {
    node_config_source:
      source === undefined ? none : `/api/v1/namespaces/${source.namespace}/configmaps/${source.name}`,
    node_config_uid: source?.uid ?? '',
    node_config_resource_version: source?.resourceVersion ?? '',
    node_config_kubelet_key: source?.key ?? '',
  };
  return gauge(name, help, [{ labels, value: 1 }]);
}

/** From when to when a certificate is good, in seconds since the epoch. */
interface Validity {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** @param der undefined comes back for what is no certificate, or one without readable times */
function validityOf(der: Buffer): Validity | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(der);
    const [fromSeconds, toSeconds] = [Date.parse(validFrom) / 1000, Date.parse(validTo) / 1000];
    return Number.isNaN(fromSeconds + toSeconds) ? undefined : { fromSeconds, toSeconds };
  } catch {
    return undefined;
  }
}

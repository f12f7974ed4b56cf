import { createHash } from 'node:crypto';
import { API_VERSION } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { toMicroTime } from '../../cluster/kube/micro-time.ts';
import type { ClusterEvent, EventSubject } from './cluster-event.ts';

/**
 * Where Events of cluster-scoped objects belong (k8s.io/kubernetes/pkg/apis/core/validation/events.go). API servers before
 * 1.23 want those of `events.k8s.io` in the other one.
 */
export const EVENTS_NAMESPACE = 'default';
export const OLDER_EVENTS_NAMESPACE = 'kube-system';

export const REPORTING_CONTROLLER = 'kubelet-gitops.dev/reconciler';

/** Bounds of the API server's validation. */
const MAX_NOTE_BYTES = 1024;
const MAX_INSTANCE = 128;

/** `events.k8s.io/v1`, as far as the project writes it. */
export interface EventObject extends KubeObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  readonly note: string;
  readonly regarding: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

/**
 * The Event of an occurrence. Its name follows from what happened, so that a second process that tells of the same is
 * refused by the API server instead of telling it twice.
 */
export function eventObject(occurrence: ClusterEvent, namespace: string, by: string, at: Millis): EventObject {
  const { about, reason, type, note, identity } = occurrence;
  const hash = createHash('sha256').update(`${about.uid}\n${reason}\n${identity}`).digest('hex').slice(0, 16);
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // A name that is cut must not end with a dot or a dash.
    metadata: { name: `${about.name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${hash}`, namespace },
    eventTime: toMicroTime(at),
    reportingController: REPORTING_CONTROLLER,
    reportingInstance: by.slice(0, MAX_INSTANCE),
    action: ACTIONS[about.kind],
    reason,
    type,
    note: cutToBytes(sanitizeText(note), MAX_NOTE_BYTES),
    regarding: {
      apiVersion: about.kind === 'Node' ? 'v1' : API_VERSION,
      kind: about.kind,
      name: about.name,
      // Kubelets name their Node by its name here, and `kubectl describe node` before 1.24 looks for nothing else.
      uid: about.kind === 'Node' ? about.name : about.uid,
    },
  };
}

const ACTIONS: Readonly<Record<EventSubject['kind'], string>> = {
  Node: 'ConfigureKubelet',
  KubeletPool: 'RollOut',
  KubeletSource: 'FollowBranch',
};

function cutToBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const cut = Buffer.from(text)
    .subarray(0, most - 3)
    .toString();
  return `${cut.replace(/\uFFFD$/, '')}…`;
}

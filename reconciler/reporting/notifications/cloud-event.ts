import { canWaitLine, type MessageContext, runbookPlace } from './message.ts';
import type { Notification } from './notification.ts';

/** CloudEvents 1.0 in structured mode, as JSON (cloudevents.io: JSON event format). */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: object;
}

export const CLOUD_EVENT_TYPE = 'application/cloudevents+json; charset=utf-8';

/** `dev.kubelet-gitops.halted`, … */
const typeOf = (kind: Notification['kind']): string => `dev.kubelet-gitops.${kind}`;

/**
 * The notification for programs. The same id from the same source is the same occurrence: whoever gets it twice leaves one out. Pure.
 *
 * @param id stays the same over retries, restarts and takeovers
 */
export function cloudEvent(id: string, told: Notification, context: MessageContext): CloudEvent {
  const { kind, severity, pools, morePools, title, lines, canWait, commit, at } = told;
  const runbook = runbookPlace(told, context);
  const [pool] = pools;
  return {
    specversion: '1.0',
    id,
    source: `/kubelet-gitops/clusters/${encodeURIComponent(context.cluster)}`,
    type: typeOf(kind),
    ...(pool === undefined || pools.length > 1 ? {} : { subject: `pools/${pool}` }),
    time: at,
    datacontenttype: 'application/json',
    data: {
      cluster: context.cluster,
      severity,
      title,
      pools,
      ...(morePools === 0 ? {} : { morePools }),
      lines,
      ...(canWait === undefined ? {} : { canWait: { ...canWait, line: canWaitLine(canWait) } }),
      ...(commit === undefined ? {} : { commit }),
      ...(runbook === undefined ? {} : { runbook }),
    },
  };
}

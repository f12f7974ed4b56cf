import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { Notification, Occurrence } from '#reconciler/reporting/notifications/notification.ts';
import type { Receiver } from '#reconciler/reporting/notifications/receivers.ts';
import type { Halt, HaltImpact, KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';

export const AT = '2026-11-21T12:00:00Z';
export const NOW = Date.parse(AT);
export const COMMIT = 'c372e46f1b2a0000000000000000000000000000';

export const receiver = (over: Partial<Receiver> = {}): Receiver => ({
  name: 'chat',
  type: 'slack',
  urlFile: '/x/url',
  plainHttp: false,
  severity: 'info',
  ...over,
});

export const notification = (over: Partial<Notification> = {}): Notification => ({
  kind: 'halted',
  severity: 'warning',
  pools: ['web'],
  morePools: 0,
  title: 'Pool web is halted',
  lines: ['web-1 failed on a'],
  at: AT,
  ...over,
});

/** A halt, or what else, of a pool at a time. */
export const occurrence = (pool: string, which: string, over: Partial<Notification> = {}): Occurrence => {
  const told = notification({ pools: pool === '' ? [] : [pool], title: `Pool ${pool}: ${which}`, ...over });
  return { marks: { [`${pool}/${told.kind}`]: which }, notification: told };
};

export const source = (over: Partial<SourceState> = {}): SourceState => ({
  ...NO_STATE,
  cluster: 'demo',
  commit: COMMIT,
  subject: 'Tune general',
  author: 'Ada',
  ...over,
});

export const pool = (status: KubeletPoolStatus, metadata: Partial<KubeletPool['metadata']> = {}): KubeletPool => ({
  metadata: { name: 'web', uid: 'u', ...metadata },
  status,
});

export const halt = (over: Partial<Halt> = {}): Halt => ({
  config: 'web-1',
  sha256: 'x',
  at: AT,
  message: 'web-1 failed on a',
  action: 'halt',
  ...over,
});

export const impact = (risk: HaltImpact['risk']): HaltImpact => ({ risk, message: `as it is with ${risk}` });

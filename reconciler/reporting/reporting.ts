import type { AuditSummary } from '#shared/contract/audit-summary.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createEventDiff, createSourceEventDiff } from './events/event-diff.ts';
import { createConditionWriter } from './events/condition-writer.ts';
import { createEventPublisher } from './events/event-publisher.ts';
import type { Fleet, UnreadableObject } from '../policy/fleet.ts';
import type { ReconcilerMetrics } from './metrics/metrics.ts';
import type { ReceiverState } from './notifications/notifier.ts';
import type { StatusPage } from './status-page/status-page.ts';
import type { PassObserver } from './pass-result.ts';

interface ReportingOptions {
  readonly kube: Kube;
  readonly metrics: ReconcilerMetrics;
  /** null where there is no status page. */
  readonly page: Pick<StatusPage, 'show' | 'run' | 'listeners'> | null;
  /** Name of this process. */
  readonly identity: string;
  readonly isLeader: () => boolean;
  readonly fleet: () => Fleet | null;
  /** The last one that was published; null for none. */
  readonly audit?: () => AuditSummary | null;
  /** Who is told by notifications, and how that goes; absent where nobody is. */
  readonly receivers?: () => readonly ReceiverState[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Whatever tells of the reconciler's work: metrics, Events, the condition on Nodes, the status page. */
interface Reporting {
  readonly observer: PassObserver;
  /** Writes until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createReporting({ metrics, page, identity, isLeader, ...options }: ReportingOptions): Reporting {
  const { events, nodeConditions, wakeUps } = metrics.instruments;
  let held: readonly UnreadableObject[] = [];
  const chronicle = createEventDiff();
  const publisher = createEventPublisher({
    ...options,
    instance: identity,
    mayWrite: isLeader,
    onOutcome: (outcome) => events.inc({ outcome }),
  });
  const sourceChronicle = createSourceEventDiff();
  const conditions = createConditionWriter({
    ...options,
    mayWrite: isLeader,
    held: () => held,
    onOutcome: (outcome) => nodeConditions.inc({ outcome }),
  });
  const { fleet, audit = () => null, receivers = () => [] } = options;
  metrics.watch({ isLeader, fleet, audit, receivers, pageListeners: () => page?.listeners() ?? 0 });
  return {
    observer: {
      woken: () => wakeUps.inc(),
      passed: metrics.passed,
      round(round) {
        held = round.unreadable;
        conditions.poke();
        const all = [
          () => metrics.round(round),
          () => {
            const news = chronicle(round);
            metrics.happened(news);
            publisher.publish(news);
          },
          () => {
            const { kubeletSource = null, at } = round;
            if (kubeletSource !== null) publisher.publish(sourceChronicle(kubeletSource, at));
          },
          () => page?.show(round),
        ];
        // One of them must not keep the others from telling.
        const errors = all.flatMap((tell) => errorOf(tell));
        if (errors.length > 0) throw errors[0];
      },
    },
    async run(signal) {
      await Promise.all([publisher.run(signal), conditions.run(signal), page?.run(signal)]);
    },
  };
}

function errorOf(tell: () => void): readonly unknown[] {
  try {
    tell();
    return [];
  } catch (error) {
    return [error];
  }
}

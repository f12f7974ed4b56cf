import type { AuditSummary } from '#shared/contract/audit-summary.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { PassResult } from '../pass-result.ts';
import type { PageInfo } from './build-model.ts';
import { type StandbyViewOptions, createStandbyView } from './standby-view.ts';
import { createPageCache, type Leadership } from './page-cache.ts';
import { createListeners } from './serve/listeners.ts';
import type { Listening } from '../../http-server/listen.ts';
import { type Reach, servePage } from './serve/server.ts';

export interface StatusPageOptions {
  readonly about: PageInfo;
  readonly leadership: () => Leadership;
  /** What is shown while another process leads. Absent: only who that is. */
  readonly standby?: Pick<StandbyViewOptions, 'kube' | 'namespace' | 'fleet'>;
  /** The last one that was published; null for none. */
  readonly audit?: () => AuditSummary | null;
  readonly reach: Reach;
  /** 0 for any free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The reconciler's page for people. It only shows, and is never in the way of anything. */
export interface StatusPage {
  /** The picture of a round. Cheap: pages are rendered on request. */
  show(round: PassResult): void;
  /** Browsers that follow it now. */
  listeners(): number;
  /** Its port once it runs and listens; null if it cannot, which the log says. */
  readonly port: Promise<number | null>;
  /** Serves until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const MOST_LISTENERS = 100;
/** A burst of rounds makes one message. */
const GAP_MS = 1_000;
const BEAT_MS = 15_000;

export function createStatusPage(options: StatusPageOptions): StatusPage {
  const { about, leadership, clock, log } = options;
  const bystander =
    options.standby === undefined
      ? null
      : createStandbyView({
          ...options.standby,
          clock,
          log,
          leads: () => leadership().leads,
          onLook: () => listeners.notify(),
        });
  const picture = createPageCache(about, leadership, clock, () => bystander?.round() ?? null, options.audit);
  const listeners = createListeners({ clock, most: MOST_LISTENERS, gapMs: GAP_MS, beatMs: BEAT_MS });
  const port = Promise.withResolvers<number | null>();

  const start = (): Promise<Listening | null> =>
    servePage({ ...options, picture, listeners }).catch((error: unknown) => {
      log.warn({ port: options.port, because: reasonOf(error) }, 'no status page');
      return null;
    });

  return {
    show(round) {
      picture.show(round);
      listeners.notify();
    },
    listeners: () => listeners.count,
    port: port.promise,
    async run(signal) {
      const server = await start();
      port.resolve(server?.port ?? null);
      await Promise.all([listeners.run(signal), bystander?.run(signal)]);
      await server?.close();
    },
  };
}

import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import type { PassResult } from '#reconciler/reporting/pass-result.ts';
import { createPageCache, type PageCache } from '#reconciler/reporting/status-page/page-cache.ts';
import { createListeners } from '#reconciler/reporting/status-page/serve/listeners.ts';
import { servePage } from '#reconciler/reporting/status-page/serve/server.ts';

/** The page as the reconciler serves it, showing what the test gives it. */
export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly show: PageCache['show'];
}

export interface ServeOptions {
  /** Any free one by default. */
  readonly port?: number;
  /** What time it is, where that is to stand still. */
  readonly now?: Millis;
  readonly cluster?: string;
  /** Who leads instead of the process that serves; '' for nobody. Then what is shown is the cluster's own word. */
  readonly leader?: string;
  /** How often it says something although there is nothing new. */
  readonly beatMs?: Millis;
}

export async function serve({
  port = 0,
  now,
  cluster = 'prod',
  leader,
  beatMs = 15_000,
}: ServeOptions = {}): Promise<Served> {
  const clock = now === undefined ? systemClock : { ...systemClock, now: () => now };
  const about = { cluster, version: '1.2.3', forge: undefined };
  let newest: PassResult | null = null;
  const leadership = () => ({ leads: leader === undefined, holder: leader ?? 'me' });
  const picture = createPageCache(about, leadership, clock, () => newest);
  const listeners = createListeners({ clock, most: 1_000, gapMs: 50, beatMs });
  const stop = new AbortController();
  const telling = listeners.run(stop.signal);
  const server = await servePage({ picture, listeners, reach: 'local', port, clock, log: silentLog });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    port: server.port,
    show(round) {
      newest = round;
      picture.show(round);
      listeners.notify();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await telling;
      await server.close();
    },
  };
}

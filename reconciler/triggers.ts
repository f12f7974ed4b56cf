import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { startPolling } from './git/poll.ts';
import { createPollDebounce } from './git/poll-debounce.ts';
import { fileSecrets } from './git/webhook/webhook-secrets.ts';
import { serveWebhook } from './git/webhook/server.ts';

interface TriggerOptions {
  /** Looks at the branch. */
  readonly look: (signal: AbortSignal) => Promise<void>;
  readonly pollMs: Millis;
  /** undefined for polling alone. */
  readonly webhook: WebhookSettings | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

interface WebhookSettings {
  readonly port: number;
  readonly branch: string;
  readonly secretFile: string;
  readonly host?: string;
}

/** What makes the reconciler look at the branch: the clock always, and a forge that tells of pushes where one is set up. */
export interface Triggers {
  /** null where there is no webhook. */
  readonly webhookPort: number | null;
  stop(): Promise<void>;
}

/** Deliveries that come faster than this make one look. */
const SHORTEST_GAP_MS = 1_000;

/** @throws the system's error where the webhook's port is taken */
export async function startTriggers(options: TriggerOptions): Promise<Triggers> {
  const { clock, log, random, signal, webhook } = options;
  const pokes = createPollDebounce({
    look: options.look,
    gapMs: SHORTEST_GAP_MS,
    clock,
    signal,
    onError: (err) => log.error({ err }, 'look at the branch ended with an error'),
  });
  const server =
    webhook === undefined
      ? null
      : await serveWebhook({
          ...webhook,
          secrets: fileSecrets(webhook.secretFile),
          onPush: () => void pokes.trigger(),
          clock,
          log,
        });
  const polling = startPolling({ everyMs: options.pollMs, look: () => pokes.trigger(), random, clock, log });
  return {
    webhookPort: server?.port ?? null,
    async stop() {
      polling.stop();
      await server?.close();
    },
  };
}

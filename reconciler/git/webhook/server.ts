import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import { SERVER_TIMEOUTS, listen, type Listening } from '../../http-server/listen.ts';
import { createTokenBucket, type TokenBucket } from '../../http-server/token-bucket.ts';
import { receiveDelivery, type DeliveryVerdict } from './receive-delivery.ts';
import { createReplays } from './replays.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

export interface WebhookOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly host?: string;
  /** Only pushes to it are of interest. */
  readonly branch: string;
  readonly secrets: WebhookSecrets;
  /** Called for every genuine push; what comes of it is not waited for. */
  readonly onPush: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<WebhookLimits>;
}

interface WebhookLimits {
  /** Largest body. GitHub sends 25 MB at most; a push of 2,000 commits has about 2. */
  readonly bodyBytes: number;
  /** Bodies that are read at the same time. */
  readonly bodiesAtOnce: number;
  /** Requests at once, and how fast the allowance grows again. */
  readonly burst: number;
  readonly everyMs: Millis;
  /** How long a request may take to arrive. */
  readonly requestMs: Millis;
}

/** Where deliveries are posted to. */
export const WEBHOOK_PATH = '/webhook';

const LIMITS: WebhookLimits = {
  bodyBytes: 4 * 1024 * 1024,
  bodiesAtOnce: 8,
  burst: 60,
  everyMs: 200,
  requestMs: 10_000,
};
const MOST_CONNECTIONS = 64;

interface Answer {
  readonly status: number;
  readonly said: string;
  readonly retryAfterMs?: Millis;
}

/** Receives deliveries of forges and answers them at once. Whatever arrives, nothing but `onPush` ever comes of it. */
export async function serveWebhook(options: WebhookOptions): Promise<Listening> {
  const { clock, log } = options;
  const limits = { ...LIMITS, ...options.limits };
  const allowance = createTokenBucket(clock, limits);
  const ports = { branch: options.branch, replays: createReplays(), clock };
  let reading = 0;

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const refused = refusalOf(request, allowance, limits);
    if (refused !== null) return refused;
    if (reading >= limits.bodiesAtOnce) return { status: 503, said: 'busy', retryAfterMs: 1_000 };
    reading += 1;
    try {
      const body = await readBody(request, limits.bodyBytes);
      if (body === null) return { status: 413, said: 'too long' };
      return tell(receiveDelivery({ headers: request.headers, body }, await options.secrets(), ports));
    } finally {
      reading -= 1;
    }
  }

  function tell(reception: DeliveryVerdict): Answer {
    if (reception.status === 202) options.onPush();
    if (reception.status === 401) log.warn({ said: reception.said }, 'webhook delivery refused');
    else log.info({ proof: reception.proof, said: reception.said }, 'webhook delivery');
    return reception;
  }

  const server = createServer(SERVER_TIMEOUTS, (request, response) => {
    // The sender may be gone at any time; that is no event.
    for (const stream of [request, response]) stream.on('error', () => undefined);
    answerTo(request)
      .catch((error: unknown): Answer => {
        if (codeOf(error) !== 'ECONNRESET') log.error({ err: error }, 'webhook delivery could not be judged');
        return { status: 503, said: 'not now', retryAfterMs: 60_000 };
      })
      .then((answer) => respond(request, response, answer))
      .catch(() => response.destroy());
  });
  const { port, host = '0.0.0.0' } = options;
  return listen(server, { port, host, mostConnections: MOST_CONNECTIONS, requestMs: limits.requestMs });
}

/** What can be said before a byte of the body is read. */
function refusalOf(request: IncomingMessage, allowance: TokenBucket, { bodyBytes }: WebhookLimits): Answer | null {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== WEBHOOK_PATH) return { status: 404, said: 'no' };
  if (request.method !== 'POST') return { status: 405, said: 'POST only' };
  const retryAfterMs = allowance.take();
  if (retryAfterMs > 0) return { status: 429, said: 'too many requests', retryAfterMs };
  return Number(request.headers['content-length'] ?? 0) > bodyBytes ? { status: 413, said: 'too long' } : null;
}

async function readBody(request: IncomingMessage, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Left in one piece when reading ends early, or the sender would never hear why.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function respond(request: IncomingMessage, response: ServerResponse, { status, said, retryAfterMs }: Answer): void {
  response.writeHead(status, {
    'content-type': 'text/plain',
    'x-content-type-options': 'nosniff',
    ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
    // What was not read must not be taken for the next request.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(`${said}\n`);
}

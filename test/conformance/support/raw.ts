import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** Where an API server is, and as whom it is asked unless a call says otherwise. */
export interface RawTarget {
  readonly url: string;
  /** PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface RawCall {
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another token; null for none, and no certificate either. */
  readonly token?: string | null;
}

/** JSON that a test looks into without knowing its type. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any;

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed. */
  readonly text: string;
  readonly json: () => Loose;
}

/** Requests as they are on the wire, for what the client does not show. */
export interface Raw {
  /** Resolves whatever the status. */
  readonly call: (call: RawCall) => Promise<RawAnswer>;
  /** The events of a watch, until the server ends it. */
  readonly watch: (call: RawCall) => Promise<AsyncIterable<Loose>>;
}

const TIMEOUT_MS = 120_000;
const MERGE_PATCH = 'application/merge-patch+json';

export function rawClient(target: RawTarget): Raw {
  const send = async (call: RawCall): Promise<IncomingMessage> => {
    const url = new URL(call.path, target.url);
    for (const [key, value] of Object.entries(call.query ?? {})) url.searchParams.set(key, value);
    const token = call.token === undefined ? target.token : call.token;
    const own = call.token === undefined ? { cert: target.cert, key: target.key } : {};
    const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const sending = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: call.method ?? 'GET',
      agent: false,
      ...(target.ca === undefined ? {} : { ca: target.ca, ...own }),
      headers: {
        accept: call.accept ?? 'application/json',
        'content-type': call.contentType ?? (call.method === 'PATCH' ? MERGE_PATCH : 'application/json'),
        ...(token === undefined || token === null ? {} : { authorization: `Bearer ${token}` }),
        // Node frames the body of a DELETE only where it is told its length.
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        ...call.headers,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    sending.end(body);
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    return response;
  };
  return {
    async call(call) {
      const response = await send(call);
      const bytes = await buffer(response);
      const text = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
      const json = (): unknown => JSON.parse(text);
      return { status: response.statusCode ?? 0, headers: response.headers, text, json };
    },
    async watch(call) {
      const response = await send({ ...call, query: { ...call.query, watch: 'true' } });
      if (response.statusCode !== 200) throw new Error(`the watch was refused with ${response.statusCode}`);
      return eventsIn(response);
    },
  };
}

async function* eventsIn(response: IncomingMessage): AsyncGenerator<Loose, void, void> {
  try {
    for await (const line of createInterface({ input: response })) if (line !== '') yield JSON.parse(line);
  } finally {
    response.destroy();
  }
}

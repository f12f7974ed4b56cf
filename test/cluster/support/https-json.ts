import { request } from 'node:https';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface HttpsCall {
  readonly url: string;
  readonly method?: string;
  readonly body?: unknown;
  /** application/json by default. */
  readonly contentType?: string;
  /** PEM that the server's certificate must lead to. */
  readonly ca: string;
  /** The name in the server's certificate, where it is not the URL's. */
  readonly serverName?: string;
  /** Who asks: a client certificate or a bearer token. */
  readonly as: { readonly certificate: string; readonly key: string } | { readonly token: string };
  /** Milliseconds; a minute by default. */
  readonly timeoutMs?: number;
}

export interface HttpsAnswer {
  readonly status: number;
  readonly text: string;
  /** @throws where the text is not JSON */
  json(): unknown;
}

/** One request over a connection of its own; resolves whatever the status, rejects where there is no answer. */
export async function callHttps(call: HttpsCall): Promise<HttpsAnswer> {
  const { as: who } = call;
  const sending = request(call.url, {
    method: call.method ?? 'GET',
    agent: false,
    ca: call.ca,
    ...(call.serverName === undefined ? {} : { servername: call.serverName }),
    ...('token' in who ? {} : { cert: who.certificate, key: who.key }),
    headers: {
      accept: 'application/json',
      'content-type': call.contentType ?? 'application/json',
      ...('token' in who ? { authorization: `Bearer ${who.token}` } : {}),
    },
    signal: AbortSignal.timeout(call.timeoutMs ?? 60_000),
  });
  sending.end(call.body === undefined ? undefined : JSON.stringify(call.body));
  const [response] = await once(sending, 'response');
  const answer = await text(response);
  return { status: response.statusCode, text: answer, json: () => JSON.parse(answer) as unknown };
}

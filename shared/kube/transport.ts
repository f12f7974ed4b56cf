import type { IncomingMessage } from 'node:http';
import type { Millis } from '../runtime/clock.ts';
import { unpackedChunks, linesOf, MIB, parseJson, readText } from './response-body.ts';
import { type Call, titleOf } from './kube-call.ts';
import { KubeError } from './kube-error.ts';
import { createLifetime, type Lifetime, withLifetime } from '../runtime/lifetime.ts';
import { type Refusal, refusalError } from './response-error.ts';
import { createSender, DEFAULT_TIMEOUTS, type SenderOptions } from './sender.ts';
import { timeoutError } from './unreachable.ts';
import { jsonIn } from '../runtime/lenient.ts';

export type Answer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly refusal: Refusal; readonly error: KubeError };

export interface Transport {
  /** One whole answer. @throws KubeError where there is none, or none to be read */
  ask(call: Call, maxBytes: number, signal: AbortSignal | undefined): Promise<Answer>;
  /** The lines of a long answer. Ends with it; after `limitMs` at the latest. @throws KubeError */
  lines(call: Call, limitMs: Millis, signal: AbortSignal): AsyncIterable<string>;
}

/** A Status is short; what else comes with an error code (a proxy's page) is not worth more. */
const MAX_REFUSAL_BYTES = MIB;

/** Objects are at most 1.5 MiB in etcd; JSON escapes and an event's wrapping leave room to spare here. */
const MAX_EVENT_LENGTH = 8 * MIB;

/** HTTP as the API server speaks it: credentials, one deadline for all of a call, errors that say what failed. */
export function createTransport(options: SenderOptions): Transport {
  const { clock } = options;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const { send, hide } = createSender(options, timeouts);

  const answerOf = async (call: Call, response: IncomingMessage, life: Lifetime, maxBytes: number): Promise<Answer> => {
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) {
      return { ok: true, body: parseJson(call, hide(await readText(call, response, life, maxBytes))) };
    }
    const body = jsonIn(hide(await readText(call, response, life, MAX_REFUSAL_BYTES)));
    const { 'retry-after': retryAfter, date } = response.headers;
    const refusal = { status, body, retryAfter, date };
    return { ok: false, refusal, error: refusalError(call, refusal, clock.now()) };
  };

  return {
    ask(call, maxBytes, signal) {
      const onParent = (): KubeError => abortedError(call, signal);
      const reason = (): KubeError => timeoutError(call, 'no complete answer', timeouts.callMs);
      return withLifetime({ clock, parent: signal, onParent, ms: timeouts.callMs, reason }, async (life) =>
        answerOf(call, await send(call, life), life, maxBytes),
      );
    },
    async *lines(call, limitMs, signal) {
      const life = createLifetime(clock, signal, () => abortedError(call, signal));
      const begun = life.cutAfter(timeouts.callMs, () => timeoutError(call, 'no answer', timeouts.callMs));
      life.cutAfter(limitMs, () => timeoutError(call, 'the server did not end it', limitMs));
      let response: IncomingMessage | undefined;
      try {
        response = await send(call, life);
        if (response.statusCode !== 200) {
          const answer = await answerOf(call, response, life, MAX_REFUSAL_BYTES);
          throw answer.ok ? unexpected(call, response) : answer.error;
        }
        begun();
        for await (const line of linesOf(call, unpackedChunks(call, response, life), MAX_EVENT_LENGTH))
          yield hide(line);
      } finally {
        life.end();
        if (response?.complete !== true) response?.destroy();
      }
    },
  };
}

function unexpected(call: Call, response: IncomingMessage): KubeError {
  return new KubeError('KUBE_GARBLED', `cannot ${titleOf(call)}: HTTP ${response.statusCode}, not a watch`);
}

/** Why the caller called it off stays visible as the cause. */
function abortedError(call: Call, signal: AbortSignal | undefined): KubeError {
  return new KubeError('KUBE_ABORTED', `${titleOf(call)} was called off`, { cause: signal?.reason });
}

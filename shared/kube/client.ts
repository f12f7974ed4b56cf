import type { KubeObject } from '../contract/api/object.ts';
import { FIELD_MANAGER } from '../contract/api/group.ts';
import type { Log } from '../runtime/log.ts';
import { MIB } from './response-body.ts';
import { type Call, titleOf } from './kube-call.ts';
import type { Kube, Place } from './kube.ts';
import { listAll } from './list-all.ts';
import { objectFrom } from './parse-objects.ts';
import { isMissingObject } from './response-error.ts';
import type { SenderOptions } from './sender.ts';
import { createTransport, type Transport } from './transport.ts';
import { watchOnce } from './watch-once.ts';

export interface KubeOptions extends Omit<SenderOptions, 'onWarning'> {
  readonly log: Log;
}

/** An object is at most 1.5 MiB in etcd. */
const MAX_OBJECT_BYTES = 4 * MIB;

/**
 * The API server over `node:https`: a few connections that are kept, no redirects, and no call without an end. Needs no
 * closing: idle connections do not keep the process alive.
 */
export function createKube({ log, ...options }: KubeOptions): Kube {
  const transport = createTransport({ ...options, onWarning: warnOnce(log) });
  return {
    async get<T extends KubeObject>(place: Place, name: string, signal?: AbortSignal) {
      const call: Call = { verb: 'get', ...place, name };
      const answer = await transport.ask(call, MAX_OBJECT_BYTES, signal);
      if (answer.ok) return objectFrom(call, answer.body) as T;
      if (isMissingObject(answer.refusal)) return null;
      throw answer.error;
    },
    list: (selection, signal, trim) => listAll(transport, selection, signal, trim),
    watch: (selection, since, signal) => watchOnce(transport, selection, since, signal),
    async create(place, object, signal) {
      const { name } = object.metadata;
      const call: Call & Place = { verb: 'create', ...place, query: MANAGER, body: object };
      if (place.subresource === undefined) return write(transport, call, name, signal);
      const answer = await transport.ask({ ...call, name }, MAX_OBJECT_BYTES, signal);
      if (!answer.ok) throw answer.error;
      return object;
    },
    mergePatch: (place, name, body, { subresource, lists } = {}, signal) => {
      const how = { ...(subresource && { subresource }), ...(lists === 'strategic' && { strategic: true }) };
      return write(transport, { verb: 'patch', ...place, ...how, query: MANAGER, body, name }, name, signal);
    },
    async delete(place, name, preconditions, signal) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: 'Background' };
      const answer = await transport.ask({ verb: 'delete', ...place, name, body }, MAX_OBJECT_BYTES, signal);
      if (!answer.ok && !isMissingObject(answer.refusal)) throw answer.error;
    },
  };
}

const MANAGER = { fieldManager: FIELD_MANAGER };

async function write<T extends KubeObject>(
  transport: Transport,
  call: Call,
  name: string,
  signal: AbortSignal | undefined,
): Promise<T> {
  const answer = await transport.ask(call, MAX_OBJECT_BYTES, signal);
  if (!answer.ok) throw answer.error;
  return objectFrom({ ...call, name }, answer.body) as T;
}

/** The API server repeats a warning with every call; the log shows each once. */
function warnOnce(log: Log): (call: Call, warning: string) => void {
  const seen = new Set<string>();
  return (call, warning) => {
    if (seen.has(warning) || seen.size >= 100) return;
    seen.add(warning);
    log.warn({ call: titleOf(call), warning }, 'the API server warns');
  };
}

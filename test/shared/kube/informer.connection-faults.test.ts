import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { inClusterCredentials } from '#shared/kube/in-cluster.ts';
import { createInformer } from '#shared/kube/informer.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import {
  events,
  hang,
  json,
  list,
  node,
  reset,
  scriptedServer,
  status,
  stream,
  text,
  type Turn,
} from './support/scripted-server.ts';
import { serviceAccountDirectory } from './support/service-account.ts';
import { AT_NODES, kubeFor } from './support/test-kube.ts';
import { until } from '../../support/until.ts';

/** Pauses take a moment; what is to happen in ten minutes does not happen. */
const impatient: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > 60_000 ? ms : 1, signal),
};

const line = (event: unknown): string => `${JSON.stringify(event)}\n`;
const added = (name: string, version: string) => ({ type: 'ADDED', object: node(name, version) });
const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

it('a mirror over a real connection outlives every fault in a row, and misses nothing', async () => {
  await using server = await scriptedServer();
  await using account = await serviceAccountDirectory('one', 'an authority');
  const cutMidLine: Turn = (response, _seen, socket) => {
    response.writeHead(200);
    response.write(`${line(added('c', '13'))}{"type":"ADDED","obj`);
    // Not before what it says was heard.
    void until('the last whole line is heard', () => mirror.items.has('c')).then(() => socket.resetAndDestroy());
  };
  const removeToken: Turn = (response, _seen, socket) => {
    void account.remove('token').then(() => status(401, 'Unauthorized')(response, _seen, socket));
  };
  const steady: Turn = (...turn) => {
    const watch = turn[1].url.searchParams.has('watch');
    const answer = watch
      ? stream((response) => response.write(line(added('f', '31'))))
      : json(list('30', [node('e', '30')]));
    answer(...turn);
  };
  server.play(
    reset,
    status(500, 'etcd'),
    status(403, 'no right yet'),
    text('<html>'),
    json(list('10', [node('a', '10')])),
    reset,
    reset,
    // Six tries in a row came to nothing: the version is doubted, and the list hangs.
    status(429, 'slow down', {}, { 'retry-after': '1' }),
    (...turn) => {
      hang(...turn);
      timeIsUp();
    },
    json(list('11', [node('a', '10'), node('b', '11')])),
    events(added('b2', '12')),
    cutMidLine,
    events(),
    status(410, 'too old', { reason: 'Expired' }),
    json(list('20', [node('d', '20')])),
    // The stream stays open behind this event.
    stream((response) => void response.write(line({ type: 'ERROR', object: expired }))),
    json(list('30', [node('e', '30')])),
    removeToken,
    ...Array.from({ length: 100 }, () => steady),
  );
  /** Nothing takes too long for it until somebody says that time is up, for all that is under way. */
  let now = new AbortController();
  const patient: Clock = {
    ...systemClock,
    sleep: (ms, signal) =>
      systemClock.sleep(ms + 600_000, AbortSignal.any([now.signal, ...(signal === undefined ? [] : [signal])])),
  };
  const timeIsUp = (): void => {
    now.abort();
    now = new AbortController();
  };
  const stop = new AbortController();
  const faults: (string | undefined)[] = [];
  const seen: string[] = [];
  const mirror = createInformer<KubeObject, string>({
    kube: kubeFor(server, {
      credentials: inClusterCredentials(systemClock, account.directory),
      clock: patient,
    }),
    selection: AT_NODES,
    clock: impatient,
    random: () => 0,
    onFault: (error) => {
      faults.push(codeOf(error));
      if (codeOf(error) === 'KUBE_UNAUTHORIZED') void account.write('token', 'two\n');
    },
    onChange: () => seen.push([...mirror.items.keys()].join(' ')),
    project: ({ metadata }) => metadata.resourceVersion,
  });
  const running = mirror.run(stop.signal);
  await until('the last event is heard', () => mirror.items.has('f'));
  stop.abort();
  await running;

  assert.deepEqual(seen, ['a', 'a b', 'a b b2', 'a b b2 c', 'd', 'e', 'e f']);
  assert.deepEqual(faults.slice(0, 11), [
    'KUBE_UNREACHABLE',
    'KUBE_SERVER_ERROR',
    'KUBE_FORBIDDEN',
    'KUBE_GARBLED',
    'KUBE_UNREACHABLE',
    'KUBE_THROTTLED',
    'KUBE_TIMEOUT',
    'KUBE_UNREACHABLE',
    'KUBE_CLOSED_AT_ONCE',
    'KUBE_GONE',
    'KUBE_GONE',
  ]);
  assert.deepEqual(new Set(faults.slice(11)), new Set(['KUBE_UNAUTHORIZED']));
  assert.equal(server.seen.at(-1)?.headers.authorization, 'Bearer two');
  await until('no connection is left but idle ones', () => server.open() <= 1);
});

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { intentOf } from '#agent/decide/assignment/intent.ts';
import { sameConfig } from '#agent/decide/state.ts';
import type { ConfigSource } from '#shared/contract/api/kubelet-node.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { A, B } from '../support/agent/states.ts';
import { payloadOf, STATE } from '../support/agent/whole-node.ts';
import { see, table } from './scenario.ts';
import { type StagingBench, stagingBench } from './support/staging.ts';

const DATA = { kubelet: payloadOf({ maxPods: 100 }) };

const assigning = (configSource: unknown): ReturnType<typeof intentOf> =>
  intentOf({ metadata: { name: 'node-1' }, spec: { configSource: configSource as ConfigSource } });

type Place = 'nowhere' | 'on the disk' | 'in the cluster' | 'in both';

/** Whether there is a directory for checkpoints yet; where the payload is; what comes of it. */
const LOOKUPS: readonly (readonly [fresh: boolean, where: Place, ready: boolean, downloads: number])[] = [
  [true, 'nowhere', false, 1],
  [true, 'in the cluster', true, 1],
  [false, 'in both', true, 0],
  [false, 'on the disk', true, 0],
  [false, 'in the cluster', true, 1],
  [false, 'nowhere', false, 1],
];

async function prepare(bench: StagingBench, fresh: boolean, where: Place) {
  if (!fresh) await bench.stage(bench.source({ kubelet: payloadOf({ maxPods: 1 }) }));
  const config = bench.source(DATA);
  if (where === 'on the disk' || where === 'in both') await bench.stage(config);
  if (where === 'on the disk' || where === 'nowhere') bench.kube.remove('configmaps', config.source.name);
  return { config, before: bench.downloads() };
}

export const scenarios = see('where a config comes from', [
  {
    dkc: 12,
    title: 'a source that says nothing is no assignment; that there is none means local',
    see() {
      const intent = assigning({});
      assert.ok(intent.intent === 'invalid');
      assert.match(intent.failure.message, /spec\.configSource\.namespace is missing/);
      assert.deepEqual(assigning(undefined), { intent: 'local' });
      assert.deepEqual(assigning(null), { intent: 'local' });
    },
  },
  {
    dkc: 13,
    title: 'a source is taken as it was written',
    see() {
      const intent = assigning({ ...A.source, surplus: 'left out' });
      assert.ok(intent.intent === 'config');
      assert.deepEqual(intent.config.source, A.source);
    },
  },
  {
    dkc: 14,
    title: 'the uid of the source says in which directory its bytes are',
    async see() {
      const bench = stagingBench();
      await bench.stage(bench.source(DATA));
      const [directory] = await bench.disk.list(`${STATE}/checkpoints`);
      assert.equal(directory, bench.source(DATA).source.uid);
    },
  },
  { dkc: 15, title: 'it is read from the path that the API has for it', see: readsItsPath },
  ...table(
    16,
    LOOKUPS,
    ([fresh, where, ready]) =>
      `on a node ${fresh ? 'without any' : 'with other'} checkpoints, a payload that is ${where} ${ready ? 'is found' : 'is missed, by name'}`,
    async ([fresh, where, ready, downloads]) => {
      const bench = stagingBench();
      const { config, before } = await prepare(bench, fresh, where);
      const staged = await bench.stage(config);
      assert.equal(bench.downloads() - before, downloads);
      assert.equal(staged.outcome, ready ? 'ready' : 'unavailable');
      const { uid, resourceVersion } = config.source;
      const path = `${STATE}/checkpoints/${uid}/${resourceVersion}/kubelet`;
      assert.equal(bench.disk.tree()[path], ready ? DATA.kubelet : undefined);
      if ('failure' in staged) assert.equal(staged.failure.reason, 'ConfigMapNotFound');
    },
  ),
  ...table(
    22,
    [
      ['nothing is nothing', null, null, true],
      ['nothing is not something', null, A, false],
      ['something is not nothing', A, null, false],
      ['a config is itself, wherever its bytes are', A, { ...A, source: { ...A.source, uid: 'x', name: 'y' } }, true],
      ['a config is not another', A, B, false],
    ] as const,
    ([what]) => what,
    ([, one, other, same]) => assert.equal(sameConfig(one, other), same),
  ),
]);

async function readsItsPath(): Promise<void> {
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":{"name":"general-4h4b22dddb"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const kube = createKube({
      server: `http://127.0.0.1:${port}`,
      credentials: staticCredentials(),
      clock: systemClock,
      log: silentLog,
      userAgent: 'test',
    });
    await kube.get({ resource: CONFIG_MAPS, namespace: 'kubelet-gitops' }, 'general-4h4b22dddb');
    assert.deepEqual(paths, ['/api/v1/namespaces/kubelet-gitops/configmaps/general-4h4b22dddb']);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

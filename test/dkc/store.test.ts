import assert from 'node:assert/strict';
import { intentOf } from '#agent/decide/assignment/intent.ts';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { decide } from '#agent/decide/decide.ts';
import { activeOf, type Config, INITIAL_STATE, type State, type Target } from '#agent/decide/state.ts';
import type { ConfigSource } from '#shared/contract/api/kubelet-node.ts';
import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { createMemoryDisk, type MemoryDisk } from '../support/agent/memory-disk.ts';
import { A, AT, B, idle, judging, onTrial, seen, wanting } from '../support/agent/states.ts';
import { see, table } from './scenario.ts';

const store = (disk: MemoryDisk) => createCheckpointStore(disk, '/state', 'node-a');
const metaFiles = (disk: MemoryDisk): readonly (string | undefined)[] =>
  ['assigned', 'last-known-good'].map((name) => disk.tree()[`/state/meta/${name}`]);

/** What is assigned, what is good, and whether the kubelet has to be restarted when nothing is assigned any more. */
const RESETS: readonly (readonly [what: string, State, changes: boolean])[] = [
  ['with nothing at all', idle(null), false],
  ['with a first config on trial', onTrial(judging(), {}, null), true],
  // There the original left its kubelet as it was; but here the good config is the one that runs.
  ['with no assignment and a good config', { ...idle(A), assigned: null }, true],
  ['with one config, assigned and good,', idle(A), true],
  ['with another config on trial than its good one', onTrial(judging(), {}, A), true],
  ['with its older config on trial again', { ...onTrial(judging(), { config: A }, B), assigned: A }, true],
];

const REFUSED_KEYS: readonly (readonly [what: string, key: string])[] = [
  ['nothing', ''],
  ['a path', 'foo/bar'],
  ['a path from the root', '/bar'],
  ['the directory itself', '.'],
  ['the one above', '..'],
  ['more than a file name may have', 'x'.repeat(256)],
];

const assigning = (part: Partial<ConfigSource>): ReturnType<typeof intentOf> =>
  intentOf({ metadata: { name: 'node-1' }, spec: { configSource: { ...A.source, ...part } } });

function isRefused(part: Partial<ConfigSource>): void {
  const intent = assigning(part);
  assert.ok(intent.intent === 'invalid', JSON.stringify(part));
  assert.match(intent.failure.message, new RegExp(`spec\\.configSource\\.${Object.keys(part)[0]} is `));
}

/** A reference on the disk that lacks a part, as nothing of ours would write it. */
async function withoutPart(part: 'uid' | 'resourceVersion', name: 'assigned' | 'last-known-good') {
  const disk = createMemoryDisk();
  await store(disk).save(idle(A));
  const path = `/state/meta/${name}`;
  const raw = JSON.parse(disk.tree()[path] ?? '');
  assert.ok(raw.source.configMap[part]);
  raw.source.configMap[part] = '';
  disk.plant(path, JSON.stringify(raw));
  const { state, problems } = await store(disk).load(AT);
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', new RegExp(`${path} is unusable .*${part} is ""`));
  return state;
}

/** Every field of a kubelet's config would do: bytes are not looked at. */
const PAYLOAD = '{"kind":"KubeletConfiguration","zürich":[1,2.5,null,""],"text":"\\u2028\\n\\t"}\n';
const held: Config = { ...A, source: { ...A.source, sha256: payloadSha256(PAYLOAD) } };

async function readBack(config: Config): Promise<Awaited<ReturnType<ReturnType<typeof store>['payloads']['read']>>> {
  const disk = createMemoryDisk();
  await store(disk).payloads.write(held, PAYLOAD);
  return store(disk).payloads.read(config);
}

const at = (part: Partial<ConfigSource>): Config => ({ ...held, source: { ...held.source, ...part } });

/** Writes one of the two references, with the other one being something else. */
async function reference(which: 'assigned' | 'lastKnownGood', target: Target): Promise<string | undefined> {
  const disk = createMemoryDisk();
  const before = which === 'assigned' ? onTrial(judging(), {}, null) : idle(B);
  await store(disk).save(before);
  await store(disk).save({ ...before, [which]: target, promotedAt: null });
  return metaFiles(disk)[which === 'assigned' ? 0 : 1];
}

const TEXT_OF_A = `{
  "apiVersion": "kubelet.config.k8s.io/v1beta1",
  "kind": "SerializedNodeConfigSource",
  "kubeletGitops": {
    "version": 2,
    "node": "node-a",
    "apply": "overlay",
    "commit": "c0ffee",
    "pool": "general",
    "sha256": "${A.source.sha256}",
    "trial": {
      "duration": "10m",
      "startTimeout": "2m",
      "maxRestarts": 2
    }
  },
  "source": {
    "configMap": {
      "kubeletConfigKey": "kubelet",
      "name": "general-aaaaaaaaaa",
      "namespace": "kubelet-gitops",
      "resourceVersion": "41",
      "uid": "uid-a"
    }
  }
}
`;

export const scenarios = see('the checkpoint store', [
  ...table(
    27,
    RESETS,
    ([what, , changes]) =>
      `a node ${what} is ${changes ? 'taken back' : 'left alone'} when nothing is assigned any more`,
    ([, state, changes]) => {
      const { next } = decide(state, seen(wanting(null)));
      assert.equal(next.doing.phase === 'falling-back', changes);
      assert.deepEqual([next.assigned, next.lastKnownGood, activeOf(next)], [null, null, null]);
    },
  ),
  ...table(
    33,
    RESETS,
    ([what]) => `the files of a node ${what} say nothing once it is back on local`,
    async ([, state]) => {
      const disk = createMemoryDisk();
      const running = store(disk);
      await running.save(state);
      await running.save(decide(state, seen(wanting(null))).next);
      await running.save(INITIAL_STATE);
      assert.ok(metaFiles(disk).every((text) => text === '' || text === undefined));
      assert.deepEqual((await store(disk).load(AT)).state, INITIAL_STATE);
    },
  ),
  {
    dkc: 39,
    title: 'the directories are made with the first state that is written, and files only for what there is to say',
    async see() {
      const disk = createMemoryDisk();
      const running = store(disk);
      await running.save((await running.load(AT)).state);
      assert.deepEqual(Object.keys(disk.tree()), ['/', '/state', '/state/meta']);
      await running.payloads.write(A, 'a');
      await running.save(idle(A));
      assert.deepEqual(await disk.list('/state'), ['checkpoints', 'meta']);
      assert.deepEqual(await disk.list('/state/meta'), ['assigned', 'last-known-good']);
    },
  },
  {
    dkc: 40,
    title: 'a payload that was saved is there',
    see: async () => assert.ok('payload' in (await readBack(held))),
  },
  {
    dkc: 41,
    title: 'one that was not is gone, and that is no error',
    see: async () => assert.match(JSON.stringify(await readBack(at({ uid: 'other' }))), /"lost":".*is gone"/),
  },
  { dkc: 42, title: 'nobody can ask for one without a uid', see: () => isRefused({ uid: '' }) },
  { dkc: 43, title: 'nor for one without a resourceVersion', see: () => isRefused({ resourceVersion: '' }) },
  {
    dkc: 44,
    title: 'payloads under two keys of one ConfigMap are read back as they were saved',
    async see() {
      const disk = createMemoryDisk();
      const both = [at({ key: 'foo' }), at({ key: 'bar', sha256: payloadSha256('other') })] as const;
      await store(disk).payloads.write(both[0], PAYLOAD);
      await store(disk).payloads.write(both[1], 'other');
      assert.deepEqual(await store(disk).payloads.read(both[0]), { payload: PAYLOAD });
      assert.deepEqual(await store(disk).payloads.read(both[1]), { payload: 'other' });
    },
  },
  ...table(
    45,
    REFUSED_KEYS,
    ([what]) => `a key that is ${what} never becomes a file`,
    ([, key]) => isRefused({ key }),
  ),
  {
    dkc: 51,
    title: 'a payload comes back as it was saved, whatever is in it',
    see: async () => assert.deepEqual(await readBack(held), { payload: PAYLOAD }),
  },
  {
    dkc: 52,
    title: 'one that is not there is missed by its path',
    see: async () =>
      assert.deepEqual(await readBack(at({ resourceVersion: '42' })), {
        lost: 'the checkpoint /state/checkpoints/uid-a/42/kubelet is gone',
      }),
  },
  {
    dkc: 53,
    title: 'a reference without uid leads nowhere: the other file says what runs',
    see: async () => assert.deepEqual(await withoutPart('uid', 'assigned'), idle(A)),
  },
  {
    dkc: 54,
    title: 'and so does one without resourceVersion',
    see: async () => assert.deepEqual(await withoutPart('resourceVersion', 'assigned'), idle(A)),
  },
  ...table(
    56,
    [
      ['assigned', null],
      ['assigned', B],
      ['lastKnownGood', null],
      ['lastKnownGood', A],
    ] as const,
    ([which, target]) => `${which} is read ${target === null ? 'as local from an empty file' : 'as it was saved'}`,
    async ([which, target]) => {
      const disk = createMemoryDisk();
      const state: State = { ...onTrial(judging(), {}, B), promotedAt: null, [which]: target };
      await store(disk).save(state);
      if (target === null) disk.plant(`/state/meta/${which === 'assigned' ? 'assigned' : 'last-known-good'}`, '');
      assert.deepEqual((await store(disk).load(AT)).state[which], target);
    },
  ),
  ...(['assigned', 'lastKnownGood'] as const).flatMap((which, index) => [
    {
      dkc: 60 + 4 * index,
      title: `local is written as an empty file for ${which}`,
      see: async () => assert.equal(await reference(which, null), ''),
    },
    {
      dkc: 61 + 4 * index,
      title: `a config is written for ${which} as the kubelet wrote it, and what identifies it beside that`,
      see: async () => assert.equal(await reference(which, A), TEXT_OF_A),
    },
    {
      dkc: 62 + 4 * index,
      title: `${which} without uid is not believed, whoever wrote it`,
      see: async () => {
        const state = await withoutPart('uid', which === 'assigned' ? 'assigned' : 'last-known-good');
        assert.deepEqual([state.assigned, state.lastKnownGood], [A, A]);
      },
    },
    {
      dkc: 63 + 4 * index,
      title: `${which} without resourceVersion is not believed either`,
      see: async () => {
        const state = await withoutPart('resourceVersion', which === 'assigned' ? 'assigned' : 'last-known-good');
        assert.deepEqual([state.assigned, state.lastKnownGood], [A, A]);
      },
    },
  ]),
]);

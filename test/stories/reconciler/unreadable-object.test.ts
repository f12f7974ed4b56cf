import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GitError } from '#reconciler/git/errors.ts';
import {
  NO_STATE,
  readSourceState,
  type SourceState,
  writeSourceState,
} from '#reconciler/reporting/notes/source-state.ts';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { CONFIG_MAPS, KUBELET_NODES, KUBELET_POOLS, KUBELET_SOURCES, NODES, type Resource } from '#shared/kube/kube.ts';
import { validPool } from '../../support/fleet.ts';
import { type ThrowingObject, throwingObject } from '../../support/throwing-objects.ts';
import { sampleOf } from '../../support/sample.ts';
import type { Replica } from '../../support/takeover/replica.ts';
import type { Written } from '../../support/takeover/cluster.ts';
import { beginStory, type Chapter } from '../../support/takeover/story.ts';
import { column } from '../../support/columns.ts';

const MEMBERS = { 'bad-0': 'bad', 'bad-1': 'bad', 'good-0': 'good', 'good-1': 'good', 'good-2': 'good' };
const SPEC = {
  rollout: { maxUnavailable: 1, probation: 'full', soak: '0s', onFailure: { threshold: 1, action: 'halt' as const } },
};
const BEFORE = [validPool('bad', 100, SPEC), validPool('good', 100, SPEC)];
const AFTER = [validPool('bad', 110, SPEC), validPool('good', 110, SPEC)];
const [oldBad, newBad] = [BEFORE[0]?.configName ?? '', AFTER[0]?.configName ?? ''];

let began: Promise<Chapter> | undefined;

async function settled(): Promise<Chapter> {
  const story = await beginStory(MEMBERS);
  story.repository.commit(...BEFORE);
  const { replica } = story.start('before');
  for (let ticks = 0; ticks < 80; ticks += 1) await story.tick();
  replica.stop();
  await story.tick();
  await replica.ended;
  return {
    nowMs: story.clock.now(),
    objects: story.cluster.copy(),
    commits: [BEFORE],
    notes: story.repository.notes,
  };
}

/** A change of both pools, seen through an API server of which one object cannot be read from some reading on. */
async function play(resource: Resource, name: string, from: number) {
  const story = await beginStory(MEMBERS, await (began ??= settled()));
  story.repository.commit(...AFTER);
  let poison: ThrowingObject | undefined;
  const { replica } = story.start('one', {
    tells: true,
    network: (kube) => (poison = throwingObject(kube, resource, (other) => other === name, from)).kube,
  });
  for (let ticks = 0; ticks < 100; ticks += 1) await story.tick();
  assert.ok(replica.isLeader(), 'it goes on');
  const metrics = await replica.metrics();
  replica.stop();
  await story.tick();
  await replica.ended;
  assert.ok(poison !== undefined);
  return { written: story.cluster.written, poison, metrics };
}

/** What was written of objects with such a name, object by object, without what only says when. */
function writesOf(written: readonly Written[], names: RegExp): Readonly<Record<string, readonly string[]>> {
  const about = written.filter(
    ({ by, name, resource }) => by === 'one' && resource.plural !== 'events' && names.test(name),
  );
  const grouped = Object.groupBy(about, ({ resource, name }) => `${resource.plural} ${name}`);
  return Object.fromEntries(
    Object.entries(grouped).map(([what, writes = []]) => [
      what,
      writes.map(({ verb, after }) => {
        const { spec, status } = (after ?? {}) as { readonly spec?: object; readonly status?: object };
        const text = JSON.stringify({ verb, spec, status: resourceOf(what) === 'kubeletpools' ? status : undefined });
        return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|"(?:uid|resourceVersion)":"[^"]*"/g, '');
      }),
    ]),
  );
}

const resourceOf = (what: string): string => what.split(' ')[0] ?? '';

const KINDS: readonly (readonly [string, Resource, string])[] = [
  ['Node', NODES, 'bad-0'],
  ['KubeletNode', KUBELET_NODES, 'bad-0'],
  ['KubeletPool', KUBELET_POOLS, 'bad'],
  ['ConfigMap of a config that is run', CONFIG_MAPS, oldBad],
  ['ConfigMap of the next config', CONFIG_MAPS, newBad],
];

describe('an object that cannot be read', () => {
  for (const [kind, resource, name] of KINDS) {
    it(`holds nobody else, a ${kind}, wherever and whenever looking at it throws`, async (t) => {
      const healthy = await play(resource, name, Number.POSITIVE_INFINITY);
      const expected = writesOf(healthy.written, /^good/);
      assert.ok(Object.keys(expected).length >= 5, Object.keys(expected).join());
      const points = Array.from({ length: healthy.poison.reads() }, (_, index) => index + 1);
      const thrown = new Set<string>();
      // Thousands of readings are of a status that is compared field by field, again and again.
      const few = points.filter((nth) => nth <= 500 || nth % 7 === 0);
      const tried = sampleOf(few, Math.ceil(few.length / 8));
      for (const from of [1, ...tried]) {
        const { written, poison } = await play(resource, name, from);
        for (const path of poison.thrown) thrown.add(path);
        assert.deepEqual(writesOf(written, /^good/), expected, `from reading ${from} on: ${[...poison.thrown].join()}`);
        const lost = written.filter(({ verb, name: of }) => verb === 'delete' && of.startsWith('bad'));
        assert.deepEqual(column(lost, 'name'), [], `from reading ${from} on`);
      }
      t.diagnostic(`${tried.length} of ${points.length} readings; threw at ${thrown.size} fields`);
    });
  }
});

interface Held {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] };
}

/** What stands on the object itself, or on the Node for what its agent says. */
const CONDITIONS: Readonly<Record<string, readonly [Resource, string, readonly string[]]>> = {
  nodes: [NODES, 'bad-0', ['KubeletConfigHealthy']],
  kubeletnodes: [NODES, 'bad-0', ['KubeletConfigHealthy']],
  kubeletpools: [KUBELET_POOLS, 'bad', ['Ready', 'Reconciling', 'Stalled']],
  configmaps: [KUBELET_POOLS, 'bad', ['ConfigSourceReadable']],
};

/** Where an object is looked at, the object, and when that begins to throw: from the start, or when everything was seen once. */
const PLACES: readonly (readonly [string, string, Resource, string, boolean])[] = [
  ['anywhere', '', NODES, 'bad-0', false],
  ['anywhere', '', KUBELET_NODES, 'bad-0', false],
  ['anywhere', '', KUBELET_POOLS, 'bad', false],
  ['anywhere', '', CONFIG_MAPS, newBad, false],
  ['while a watch event is projected', 'shared/kube/informer.ts', NODES, 'bad-0', true],
  ['while a watch event is projected', 'shared/kube/informer.ts', KUBELET_NODES, 'bad-0', true],
  ['while a watch event is projected', 'shared/kube/informer.ts', KUBELET_POOLS, 'bad', true],
  ['while it is planned', 'reconciler/policy/plan.ts', KUBELET_NODES, 'bad-0', true],
  ['while it is planned', 'reconciler/policy/plan.ts', KUBELET_POOLS, 'bad', true],
  ['while it is applied', 'reconciler/cluster/apply.ts', KUBELET_NODES, 'bad-0', true],
  ['while it is applied', 'reconciler/cluster/apply.ts', KUBELET_POOLS, 'bad', true],
];

describe('an object that cannot be read says so', () => {
  for (const [where, file, resource, name, later] of PLACES) {
    it(`until it can be: a ${resource.plural.slice(0, -1)}, ${where}`, async () => {
      const story = await beginStory(MEMBERS, await (began ??= settled()));
      let armed = !later;
      let poison: ThrowingObject | undefined;
      const { replica } = story.start('one', {
        tells: true,
        network: (kube) =>
          (poison = throwingObject(
            kube,
            resource,
            (other) => other === name,
            () => armed,
            file,
          )).kube,
      });
      for (let ticks = later ? 10 : 0; ticks > 0; ticks -= 1) await story.tick();
      armed = true;
      story.repository.commit(...AFTER);
      const change = (to: string): void => {
        const annotations = { touched: to };
        const namespace = resource === CONFIG_MAPS ? 'kubelet-gitops' : undefined;
        if (story.cluster.objects.get(resource, name, namespace) === undefined) return;
        story.cluster.objects.patch(resource, name, { metadata: { annotations } }, namespace);
      };
      change('first');
      const [of, whom, types] = CONDITIONS[resource.plural] ?? [NODES, '', []];
      const held = (): readonly string[] =>
        ((story.cluster.objects.get(of, whom) as Held | undefined)?.status?.conditions ?? [])
          .filter(({ reason }) => reason === 'CannotBeRead')
          .map(({ type }) => type);
      const gauge = async (): Promise<number> => {
        const kind = { configmaps: 'config-source', kubeletpools: 'pool' }[resource.plural] ?? 'node';
        const found = new RegExp(`objects_unreadable\\{kind="${kind}"\\} (\\d+)`).exec(await replica.metrics());
        return Number(found?.[1]);
      };
      await story.until('it says so', () => held().length > 0);
      for (let ticks = 0; ticks < 100; ticks += 1) await story.tick();
      assert.deepEqual([held(), await gauge()], [types, 1]);
      assert.ok((poison?.thrown.size ?? 0) > 0);
      const told = (pool: string): boolean =>
        (story.cluster.objects.list(KUBELET_NODES) as readonly KubeletNode[])
          .filter(({ metadata }) => metadata.name.startsWith(pool))
          .every(({ spec }) => spec?.configSource?.name === AFTER.find((each) => each.name === pool)?.configName);
      assert.ok(told('good') && replica.isLeader(), 'the others go on');
      poison?.heal();
      change('again');
      await story.until('it is decided about again', () => held().length === 0 && told('bad'));
      for (let ticks = 0; ticks < 4; ticks += 1) await story.tick();
      assert.equal(await gauge(), 0);
      replica.stop();
      await story.tick();
      await replica.ended;
    });
  }
});

describe('a record of the commit in force that somebody damaged', () => {
  const notes = (pool: unknown): string =>
    JSON.stringify([{ commit: 'e'.repeat(40), pools: [pool], findings: [], limits: null }]);
  const junk = ['null', '[null]', '{"a":1}', '%', '9'.repeat(400), notes(null), notes({ name: 7, failures: [{}] })];
  for (const text of junk) {
    it(`keeps nobody from anything: ${text.slice(0, 60)}`, async () => {
      const story = await beginStory(MEMBERS, await (began ??= settled()));
      // The API server lets nothing longer into most of the others.
      const long = ['history', 'displaced', 'policy', 'limits', 'findings', 'unreadableNotes', 'notes', 'statuses'];
      const keys = text.length > 64 ? long : Object.keys(NO_STATE).filter((key) => key !== 'commit');
      const { commit: _, ...status } = writeSourceState({
        ...NO_STATE,
        ...Object.fromEntries(keys.map((key) => [key, text])),
      });
      story.cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { status });
      // A limit that cannot be read allows no more than the usual: one pool after the other.
      const first = story.repository.commit(...AFTER.slice(0, 1), ...BEFORE.slice(1));
      const { replica } = story.start('one', { tells: true });
      const told = (pool: string, commit: string): boolean =>
        (story.cluster.objects.list(KUBELET_NODES) as readonly KubeletNode[])
          .filter(({ metadata }) => metadata.name.startsWith(pool))
          .every(({ spec }) => spec?.commit === commit);
      await story.until('the one pool is told', () => told('bad', first));
      const second = story.repository.commit(...AFTER);
      await story.until('and the other', () => told('good', second));
      replica.stop();
      await story.tick();
      await replica.ended;
    });
  }
});

describe('a note that cannot be read', () => {
  it('holds up no other note and no rollout, says so, and is written once it can be', async () => {
    const story = await beginStory(MEMBERS, await (began ??= settled()));
    const bad = story.repository.commit(...AFTER);
    story.repository.unreadableNotes.set(bad, new GitError('GIT_DAMAGED', 'the folder 00/ cannot be read'));
    const note = (commit: string): string => story.repository.notes.get(commit) ?? '';
    const record = (): Partial<SourceState> =>
      readSourceState(story.cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME) ?? null);
    const told = async (replica: Replica): Promise<readonly string[]> =>
      (await replica.metrics())
        .split('\n')
        .filter((line) => /^kubelet_gitops_notes_working|unreadable\{kind="note"/.test(line));
    const GOES_ON = 'kubelet_gitops_notes_working 1';

    const first = story.start('one', { tells: true }).replica;
    await story.until('it is in force', () => record().commit === bad);
    await story.until('it says so', () => record().unreadableNotes === `${bad}: the folder 00/ cannot be read`);
    for (let ticks = 0; ticks < 4; ticks += 1) await story.tick();
    assert.deepEqual(await told(first), ['kubelet_gitops_objects_unreadable{kind="note"} 1', GOES_ON]);
    await story.until('the rollout goes on', () =>
      (story.cluster.objects.list(KUBELET_NODES) as readonly KubeletNode[]).every(({ spec }) => spec?.commit === bad),
    );
    for (let ticks = 0; ticks < 100; ticks += 1) await story.tick();
    const other = story.repository.commit(...BEFORE);
    await story.until('another commit has its note', () => note(other).startsWith('demo: settled'));
    assert.deepEqual([note(bad), record().notes], ['', 'on']);
    assert.ok(first.isLeader());
    first.stop();
    await story.tick();
    await first.ended;

    const second = story.start('two', { tells: true }).replica;
    await story.until('another process says so as well', () => second.isLeader() && record().unreadableNotes !== '');
    story.repository.unreadableNotes.clear();
    await story.until('it is written', () => note(bad) !== '' && record().unreadableNotes === '');
    for (let ticks = 0; ticks < 4; ticks += 1) await story.tick();
    assert.deepEqual(await told(second), ['kubelet_gitops_objects_unreadable{kind="note"} 0', GOES_ON]);
    second.stop();
    await story.tick();
    await second.ended;
  });
});

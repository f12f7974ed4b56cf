import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { PROJECT_CRDS } from '#sandbox/api-server/bootstrap-cluster.ts';
import type { Schema } from '#sandbox/api-server/schema/structural.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { type Kube, KUBELET_NODES, type Resource } from '#shared/kube/kube.ts';
import { validPool } from '../../support/fleet.ts';
import { sampleOf } from '../../support/sample.ts';
import { beginStory, type Chapter, NODES, settledOnce, type Story } from '../../support/takeover/story.ts';

/** As in `spec.versions[0]` of the files. */
interface Definition extends StoredObject {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Mutable } }[] };
}

interface Mutable extends Schema {
  properties?: Record<string, Mutable>;
  items?: Mutable;
  required?: string[];
}

interface Write {
  readonly what: string;
  readonly body: string;
  readonly atMs: number;
}

/** Everything that a pool can say besides its payload. */
const SAYS = {
  tolerate: ['unknown-field'],
  allowFields: ['staticPodURLHeader'],
  drift: 'report' as const,
  suspend: false,
  disruption: { allow: ['restart', 'drain'] as const, drainTimeout: '5m' },
  rollout: {
    maxUnavailable: 2,
    maxOnTrial: 2,
    probation: '1s',
    soak: '0s',
    canary: { nodes: 1 },
    steps: [{ nodes: 2, soak: '1s' }],
    onFailure: { threshold: 1, action: 'halt' as const },
  },
};
const POOLS = [validPool('workers', 120, SAYS), validPool('gpu', 60, SAYS)];
const PASSES_MS = 15_000;

const definitions = new Map<string, Definition>();
for (const file of PROJECT_CRDS) {
  const definition = parse(await readFile(file, 'utf8')) as Definition;
  definitions.set(definition.metadata.name.split('.')[0] ?? '', definition);
}

const rootOf = (definition: Definition): Mutable => definition.spec.versions[0]?.schema.openAPIV3Schema ?? {};
const inside = (schema: Mutable | undefined): Mutable | undefined =>
  schema?.type === 'array' ? inside(schema.items) : schema;

/** Every field of one half of a kind, dotted. */
function fieldsOf(resource: string, part: string): readonly string[] {
  const walk = (schema: Mutable | undefined, at: string): readonly string[] =>
    Object.entries(inside(schema)?.properties ?? {}).flatMap(([key, each]) => {
      const path = `${at}.${key}`;
      return [path, ...walk(each, path)];
    });
  const definition = definitions.get(resource);
  return definition === undefined ? [] : walk(rootOf(definition).properties?.[part], part);
}

/** The definition of a release that did not have the field yet. */
function olderThan(resource: string, field: string): StoredObject {
  const definition = structuredClone(definitions.get(resource));
  assert.ok(definition !== undefined);
  const path = field.split('.');
  const last = path.pop() ?? '';
  let at: Mutable | undefined = rootOf(definition);
  for (const key of path) at = inside(at?.properties?.[key]);
  assert.ok(at?.properties?.[last] !== undefined, field);
  delete at.properties[last];
  if (at.required !== undefined) at.required = at.required.filter((key) => key !== last);
  return definition;
}

function watching(kube: Kube, writes: Write[], now: () => number): Kube {
  const note = (verb: string, { plural }: Resource, name: string, body: object): void => {
    if (plural === 'kubeletnodes' || plural === 'kubeletpools')
      writes.push({ what: `${verb} ${plural} ${name}`, body: JSON.stringify(body), atMs: now() });
  };
  return {
    ...kube,
    create(place, object, signal) {
      note('create', place.resource, object.metadata.name, object);
      return kube.create(place, object, signal);
    },
    mergePatch(place, name, patch, options, signal) {
      note('patch', place.resource, name, { ...patch, metadata: undefined });
      return kube.mergePatch(place, name, patch, options, signal);
    },
  };
}

interface Played {
  readonly story: Story;
  readonly writes: readonly Write[];
  readonly stop: () => Promise<void>;
}

let settled: Promise<Chapter> | undefined;

/** A rollout on an API server whose definition does not have the field, until a minute after it has come to rest. */
async function play(resource: string, field: string, pools = POOLS): Promise<Played> {
  const story = await beginStory(NODES, await (settled ??= settledOnce()));
  story.cluster.define(olderThan(resource, field));
  story.repository.commit(...pools);
  const writes: Write[] = [];
  const network = (kube: Kube): Kube => watching(kube, writes, () => story.clock.monotonic());
  const { replica } = story.start('one', { network });
  for (let ticks = 0; ticks < 240; ticks += 1) await story.tick();
  const stop = async (): Promise<void> => {
    replica.stop();
    await story.tick();
    await replica.ended;
  };
  return { story, writes, stop };
}

/** Fields that every release has: an object without them is refused, or says nothing at all. */
const ALWAYS: readonly string[] = [
  'spec.pool',
  'spec.configSource.name',
  'status.conditions.type',
  // Without it no rollout is known again: each pass would begin one.
  'status.rollout.sha256',
];

describe('an API server with the CRDs of an older release', () => {
  const all = [
    ...fieldsOf('kubeletnodes', 'spec').map((field) => ['kubeletnodes', field] as const),
    ...fieldsOf('kubeletpools', 'spec').map((field) => ['kubeletpools', field] as const),
    ...fieldsOf('kubeletpools', 'status').map((field) => ['kubeletpools', field] as const),
  ];
  const later = all.filter(([, field]) => !ALWAYS.includes(field));
  for (const [resource, field] of sampleOf(later, 13)) {
    it(`that drops ${resource} ${field} is sent no write twice, and none in 20 passes at rest`, async () => {
      const { story, writes, stop } = await play(resource, field);
      const since = story.clock.monotonic();
      for (let passes = 0; passes < 20; passes += 1) await story.clock.advance(PASSES_MS);
      const texts = writes.map(({ what, body }) => `${what} ${body}`);
      const twice = texts.filter((text, index) => texts.indexOf(text) !== index);
      assert.deepEqual(twice, []);
      const late = writes.filter(({ atMs }) => atMs > since);
      assert.deepEqual(late, []);
      await stop();
    });
  }

  it('that drops what apply: replace keeps has no node lose it, and is obeyed once it has the field', async () => {
    const keepFields = ['staticPodPath'];
    const replacing = [['workers', 121] as const, ['gpu', 61] as const].map(([name, maxPods]) =>
      validPool(name, maxPods, { ...SAYS, apply: 'replace', keepFields }),
    );
    const { story, stop } = await play('kubeletnodes', 'spec.keepFields', replacing);
    const nodes = (): readonly KubeletNode[] => story.cluster.objects.list(KUBELET_NODES) as readonly KubeletNode[];
    const told = nodes().filter(({ spec }) => spec?.apply === 'replace');
    assert.ok(told.length > 0);
    for (const { status } of nodes()) assert.notEqual(status?.active?.apply, 'replace');
    for (const { status } of told) assert.equal(status?.error?.reason, 'InvalidAssignment');
    for (const definition of definitions.values()) story.cluster.define(definition);
    await story.clock.advance(11 * 60_000);
    const keeping = () => nodes().filter(({ status }) => status?.active?.keepFields?.join() === keepFields.join());
    await story.until('all nodes of the pools keep what they are to', () => keeping().length === 5);
    await stop();
  });

  it('gets what it dropped once it has those of this release, without anybody’s doing', async () => {
    const { story, stop } = await play('kubeletnodes', 'spec.tolerate');
    const told = (): readonly unknown[] =>
      (story.cluster.objects.list(KUBELET_NODES) as readonly KubeletNode[])
        .filter(({ spec }) => spec?.pool !== undefined)
        .map(({ spec }) => spec?.tolerate);
    assert.deepEqual(new Set(told()), new Set([undefined]));
    for (const definition of definitions.values()) story.cluster.define(definition);
    for (let minutes = 0; minutes < 12; minutes += 1) await story.clock.advance(60_000);
    assert.equal(told().length, 5);
    for (const tolerate of told()) assert.deepEqual(tolerate, SAYS.tolerate);
    await stop();
  });
});

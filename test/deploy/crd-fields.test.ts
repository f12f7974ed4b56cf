import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fc } from '../support/property.ts';
import { parse } from 'yaml';
import { REMOVED_FLAGS } from '#shared/contract/kubelet-config/fields/removed-flags.ts';
import { nodeReportOf, statusOf } from '#agent/report/kubelet-node-status.ts';
import { arbitraryObservation, arbitraryState } from '../support/agent/arbitrary.ts';
import { SOURCE_STATES } from '../reconciler/reporting/source/support/states.ts';
import { disruptions, MOST_NODES, rollouts, RolloutStory, roughEvents } from '../support/rollout-story.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const ROOT = new URL('../../', import.meta.url);

/** Every field below a schema, such as `rollout.steps[].soak`. */
const fieldsOf = ({ properties = {}, items }: Schema, at = ''): readonly string[] => [
  ...(items === undefined ? [] : fieldsOf(items, `${at}[]`)),
  ...Object.entries(properties).flatMap(([name, below]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return [path, ...fieldsOf(below, path)];
  }),
];

/** Every field that a value has, such as `rejected[].sha256`. */
function fieldsIn(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsIn(item, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return below === undefined ? [] : [path, ...fieldsIn(below, path)];
  });
}

/** The fields below `spec` or `status` that the definition in deploy/crds has. */
async function defined(file: string, part: 'spec' | 'status'): Promise<ReadonlySet<string>> {
  const crd = parse(await readFile(new URL(`deploy/crds/${file}`, ROOT), 'utf8')) as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
  };
  return new Set(crd.spec.versions.flatMap(({ schema }) => fieldsOf(schema.openAPIV3Schema.properties?.[part] ?? {})));
}

/** With the cluster's own it becomes `allowFields` on its way into the cluster. */
const ONLY_IN_GIT = ['fields', 'fields.allow', 'fields.deny'];

describe('the definition of KubeletPool', () => {
  it('has every field that a pool.yaml may have: an API server drops the others without a word', async () => {
    const editor = JSON.parse(await readFile(new URL('schemas/kubelet-pool.json', ROOT), 'utf8')) as Schema;
    const inCluster = await defined('kubeletpools.yaml', 'spec');
    const inGit = fieldsOf(editor.properties?.['spec'] ?? {});
    assert.ok(inGit.includes('rollout.steps[].soak') && inGit.length > 40, inGit.join(' '));
    assert.deepEqual(
      inGit.filter((field) => !inCluster.has(field)),
      ONLY_IN_GIT,
    );
  });

  it('has every field that the reconciler writes into its status', async () => {
    const inCluster = await defined('kubeletpools.yaml', 'status');
    const written = new Set<string>();
    const stories = fc.array(roughEvents, { minLength: 100, maxLength: 100 });
    const property = fc.property(
      rollouts,
      fc.integer({ min: 1, max: MOST_NODES }),
      disruptions,
      stories,
      (rollout, nodes, disruption, story) => {
        const told = new RolloutStory(rollout, nodes, disruption);
        for (const event of story) {
          told.happen(event);
          told.fleet.reconcile();
          for (const { status } of told.fleet.fleet.pools.values())
            for (const field of fieldsIn(status)) written.add(field);
        }
      },
    );
    fc.assert(property, { numRuns: 50 });
    assert.ok(written.has('rollout.waves[].name') && written.has('halt.message'), [...written].join(' '));
    assert.deepEqual(
      [...written].filter((field) => !inCluster.has(field)),
      [],
    );
  });
});

describe('the definition of KubeletSource', () => {
  it('has every field that the reconciler writes into its status', async () => {
    const inCluster = await defined('kubeletsources.yaml', 'status');
    const written = new Set(SOURCE_STATES.flatMap(([, , source]) => fieldsIn(source().status)));
    assert.ok(written.has('refused.author') && written.has('failure.since') && written.has('lastAttemptedCommit'));
    assert.deepEqual(
      [...written].filter((field) => !inCluster.has(field)),
      [],
    );
  });
});

describe('the definition of KubeletNode', () => {
  it('has every field that an agent writes into its status', async () => {
    const inCluster = await defined('kubeletnodes.yaml', 'status');
    const written = new Set<string>();
    const property = fc.property(arbitraryState, arbitraryObservation, (state, seen) => {
      const told = {
        state,
        seen: { ...seen, kubeletFlags: [] },
        actions: [],
        agentVersion: '1.2.3',
        fault: null,
        diskProblems: [],
      };
      for (const field of fieldsIn(statusOf(nodeReportOf(told), {}))) written.add(field);
    });
    fc.assert(property, { numRuns: 1000 });
    assert.ok(
      written.has('kubeletFlags') && written.has('trial.restarts') && written.has('rejected[].sha256'),
      [...written].join(' '),
    );
    assert.deepEqual(
      [...written].filter((field) => !inCluster.has(field)),
      [],
    );
  });

  it('has room for every flag that an agent may name: an API server refuses a status that is beyond it, and all of it', async () => {
    const text = await readFile(new URL('deploy/crds/kubeletnodes.yaml', ROOT), 'utf8');
    const [, items, length] = /kubeletFlags:[^]*?maxItems: (\d+)[^]*?maxLength: (\d+)/.exec(text) ?? [];
    const longest = Math.max(...[...REMOVED_FLAGS.keys()].map((flag) => flag.length));
    assert.ok(REMOVED_FLAGS.size <= Number(items) && longest <= Number(length), `${REMOVED_FLAGS.size}, ${longest}`);
  });
});

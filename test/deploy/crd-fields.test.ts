import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';

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

/** With the cluster's own it becomes `allowFields` on its way into the cluster. */
const ONLY_IN_GIT = ['fields', 'fields.allow', 'fields.deny'];

describe('the definition of KubeletPool', () => {
  it('has every field that a pool.yaml may have: an API server drops the others without a word', async () => {
    const crd = parse(await readFile(new URL('deploy/crds/kubeletpools.yaml', ROOT), 'utf8')) as {
      readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
    };
    const editor = JSON.parse(await readFile(new URL('schemas/kubelet-pool.json', ROOT), 'utf8')) as Schema;
    const inCluster = new Set(
      crd.spec.versions.flatMap(({ schema }) => fieldsOf(schema.openAPIV3Schema.properties?.['spec'] ?? {})),
    );
    const inGit = fieldsOf(editor.properties?.['spec'] ?? {});
    assert.ok(inGit.includes('rollout.steps[].soak') && inGit.length > 40, inGit.join(' '));
    assert.deepEqual(
      inGit.filter((field) => !inCluster.has(field)),
      ONLY_IN_GIT,
    );
  });
});

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { CLUSTER, filesOf, KUBELET, POOL, valid } from '../reconciler/policy/config-repo/support/load.ts';

const gates = (prefix: string): readonly string[] =>
  Array.from({ length: 200 }, (_, index) => `featureGates.${prefix}${index}`);
const fields = (names: readonly string[], allow: readonly string[] = []): string =>
  `  fields: ${JSON.stringify({ allow, deny: names })}\n`;

const loaded = (ofCluster: string, ofPool: string, before?: readonly string[]): LoadedRepo =>
  loadRepo(
    filesOf({
      'clusters/demo.yaml': `${CLUSTER}${ofCluster}`,
      'pools/x/pool.yaml': `${POOL}  apply: replace\n${ofPool}`,
      'pools/x/kubelet.yaml': `${KUBELET}maxPods: 5\n`,
    }),
    {
      cluster: 'demo',
      ...(before && { boundsBefore: { fields: { allow: ['authentication.anonymous'], deny: before } } }),
    },
  );

describe('the fields that a pool keeps of its nodes’ own configs', () => {
  it('fit into the definitions, however long the lists are that may be committed', async () => {
    const ofCluster = fields(gates('Cluster'), ['authentication.anonymous']);
    const { keepFields = [] } = valid(loaded(ofCluster, fields(gates('Pool')), gates('Before')), 'x').spec;
    assert.ok(keepFields.length > 600);
    for (const file of ['kubeletpools', 'kubeletnodes']) {
      const text = await readFile(new URL(`../../deploy/crds/${file}.yaml`, import.meta.url), 'utf8');
      const limits = limitsIn(parse(text));
      assert.ok(limits.length > 3, file);
      for (const { maxItems, items } of limits) {
        // A record has whole lists, joined.
        const most = items.maxLength > 256 ? items.maxLength / 257 : maxItems;
        assert.ok(most >= 600 + 2 * (keepFields.length - 600), `${file}: ${most}`);
      }
    }
  });

  it('have no commas or spaces, which lists of them are written with', () => {
    for (const field of ['featureGates.A,B', 'staticPodURLHeader.A B']) {
      assert.equal(loaded(fields([field]), '').cluster.fields.deny.includes(field), false, field);
      assert.equal(loaded('', fields([field])).pools[0]?.status, 'invalid', field);
    }
  });
});

interface ListLimits {
  readonly maxItems: number;
  readonly items: { readonly maxLength: number };
}

function limitsIn(schema: unknown): readonly ListLimits[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, each]) => [
    ...(key === 'keepFields' ? [each as ListLimits] : []),
    ...limitsIn(each),
  ]);
}

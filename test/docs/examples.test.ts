import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import type { DesiredPool } from '#reconciler/policy/desired.ts';
import { DEFAULT_CLUSTER, readCluster } from '#reconciler/policy/config-repo/read-cluster.ts';
import { readPool } from '#reconciler/policy/config-repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { type CommitNote, noteInForce } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';
import { isMap } from '#shared/runtime/maps.ts';

const read = (page: string): string => readFileSync(page, 'utf8');

const decode = (text: string): unknown => decodeYaml(Buffer.from(text)).value;

describe('the examples of files in the documentation', () => {
  for (const page of ['docs/uninstall.md', 'docs/reference/pool.md']) {
    it(`${page}: are pools and cluster files that can be read`, () => {
      const documents = fencedBlocks(page, 'yaml').map(decode).filter(isMap);
      const ours = documents.filter(({ kind }) => kind === 'KubeletPool' || kind === 'ClusterConfig');
      assert.ok(ours.length >= 2);
      for (const document of ours) {
        const report = fileReport(page, () => undefined);
        if (document['kind'] === 'KubeletPool') readPool(document, 'none', report);
        else readCluster(document, 'my-cluster', report);
        assert.deepEqual(report.findings.map(formatFinding), []);
      }
    });
  }
});

/** `a.b` → value, for everything in a tree of maps. */
function flatten(value: object, prefix = ''): Readonly<Record<string, unknown>> {
  const entries = Object.entries(value).flatMap(([key, item]: [string, unknown]) => {
    const path = `${prefix}${key}`;
    return isMap(item) && Object.keys(item).length > 0
      ? Object.entries(flatten(item, `${path}.`))
      : [[path, item] as const];
  });
  return Object.fromEntries(entries);
}

/** Lines `key: type; default x. Rule` under a heading: the default without its code marks. */
function defaultsUnder(heading: string): Readonly<Record<string, string>> {
  const section =
    read('docs/reference/pool.md')
      .split(/^## /m)
      .find((text) => text.startsWith(`${heading}\n`)) ?? '';
  // Below a heading of the third level are keys of keys.
  const [own = ''] = section.split(/^### /m);
  const rows = [...own.matchAll(/^- `([A-Za-z.]+)`: [^;]+?(?:; (?:default (.+?)|(required)))?\. \S.*$/gm)];
  return Object.fromEntries(
    rows.map(([, key = '', value, required]) => [key, (value ?? required ?? 'not set').replaceAll(/[`"]/g, '')]),
  );
}

/** What has a default, and the keys of what has none. */
function partition(
  rows: Readonly<Record<string, string>>,
): readonly [Readonly<Record<string, string>>, readonly string[]] {
  const entries = Object.entries(rows);
  const notSet = entries.filter(([, value]) => value === 'not set').map(([key]) => key);
  return [Object.fromEntries(entries.filter(([, value]) => value !== 'not set')), notSet.sort()];
}

describe('the reference of pool.yaml and the cluster file', () => {
  it('has every key of a pool with the default that it has in fact', () => {
    const document = { apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'KubeletPool', spec: { nodeSelector: {} } };
    const spec = flatten(
      readPool(
        document,
        'x',
        fileReport('x', () => undefined),
      ).spec,
    );
    const expected: Readonly<Record<string, unknown>> = { ...spec, nodeSelector: 'required', layers: '[kubelet.yaml]' };
    const shown = Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, String(value)]));
    assert.deepEqual(spec['layers'], ['pools/x/kubelet.yaml']);
    const [set, notSet] = partition(defaultsUnder('pool.yaml'));
    assert.deepEqual(set, { ...shown, tolerate: 'none' });
    const bounds = ['maxOnTrial', 'maxUnavailablePerZone', 'notReadyNodes', 'probation'];
    const known = ['analysis', 'canary', 'emergency', ...bounds, 'steps', 'windows'].map((key) => `rollout.${key}`);
    assert.deepEqual(notSet, ['blockers', 'disruption', ...known, 'suspend', 'trial.durationAfterCanary']);
  });
  it('has every key of a cluster file with the default that it has in fact', () => {
    const { kubeletVersions, fields, tolerate, maxChange, maxUnavailable, follows, windows, ...rest } = DEFAULT_CLUSTER;
    assert.deepEqual(fields, { allow: [], deny: [] });
    assert.deepEqual([maxChange, maxUnavailable, follows, windows], [null, null, null, null]);
    assert.deepEqual([kubeletVersions, tolerate], [[], []]);
    const [set, notSet] = partition(defaultsUnder('Cluster file'));
    const shown = Object.fromEntries(Object.entries(flatten(rest)).map(([key, value]) => [key, String(value)]));
    assert.deepEqual(set, { kubeletVersions: 'none', tolerate: 'none', 'follows.settledFor': '24h', ...shown });
    assert.deepEqual(notSet, [
      'follows.clusters',
      'follows.require',
      'follows.signers',
      'maxChange',
      'maxUnavailable',
      'windows',
    ]);
  });
});

describe('the example of a note', () => {
  const [json = ''] = fencedBlocks('docs/notes.md', 'json');
  const { schema, ...shown } = JSON.parse(json) as CommitNote & { readonly schema: string };

  it('is rendered as the page shows it', () => {
    const { text, data } = noteContent(shown);
    assert.deepEqual(JSON.parse(data), { schema, ...shown });
    assert.ok(fencedBlocks('docs/notes.md', '').includes(text));
  });

  it('has the fields that a note of the reconciler has', () => {
    const pool: DesiredPool = {
      name: 'general',
      origin: 'retiring',
      spec: readPool(
        {},
        'general',
        fileReport('x', () => undefined),
      ).spec,
      config: null,
      commit: null,
      findings: [],
    };
    const counts = { nodes: 1, updated: 1, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };
    const failure = { node: 'a', config: 'b', reason: 'c', message: 'd', at: 'e' };
    const desired = {
      commit: 'x',
      pools: new Map([[pool.name, pool]]),
      policy: DEFAULT_CLUSTER,
      findings: [],
      unusable: new Set<string>(),
      choices: new Map(),
    };
    const note = noteInForce('demo', 'x', desired, new Map([[pool.name, { counts, failures: [failure] }]]));
    assert.deepEqual(Object.keys(shown).sort(), Object.keys(note).sort());
    assert.deepEqual(Object.keys(shown.pools[0] ?? {}).sort(), Object.keys(note.pools[0] ?? {}).sort());
    assert.deepEqual(shown.pools[0]?.failures.map(Object.keys), [Object.keys(failure)]);
    assert.deepEqual(Object.keys(shown.pools[0]?.counts ?? {}), Object.keys(counts));
  });
});

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { decodeKubeletConfig, decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { hasErrors } from '#shared/contract/finding.ts';
import { readCluster } from '#reconciler/policy/config-repo/read-cluster.ts';
import { readPool } from '#reconciler/policy/config-repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { errorsOf, schemaAt } from './support/compiled-schema.ts';

const TEMPLATE = 'config-repo-template';

const POOL = { apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'KubeletPool' };
const CLUSTER = { apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'ClusterConfig' };
const selector = { nodeSelector: {} };

const WINDOW = { cron: '0 2 * * 1-5', duration: '4h', timeZone: 'Europe/Berlin' };
const REBOOT = { by: 'sentinel', timeout: '3h' };
const PODS = { namespace: 'batch', selector: { matchLabels: { app: 'train' } } };
const ROLLOUT = {
  maxUnavailablePerZone: 1,
  canary: { nodes: 1, soak: '1h' },
  steps: [{ nodes: 5 }, { nodes: '25%', soak: '2h' }, { nodes: '50%' }],
  windows: { allow: [WINDOW, { cron: '0 0 * * 6', duration: '48h' }], deny: [WINDOW], overrun: 'finish-wave' },
  emergency: 'CVE-2026-1234',
  onFailure: { action: 'revert' },
};

const analysed = (analysis: object): object => ({ canary: { nodes: 1 }, analysis });
const asked = (more: object): object => ({
  prometheus: { url: 'http://p', queries: [{ name: 'a', query: 'b', ...more }] },
});

/** Documents of ours, and whether both the reader and the schema take them. */
const OURS: readonly (readonly [object, boolean])[] = [
  [{ ...POOL, spec: selector }, true],
  [{ ...POOL, metadata: { name: 'x' }, spec: { ...selector, priority: null } }, true],
  [{ ...POOL, spec: { ...selector, layers: ['base/a.yaml', './b.yaml', '../c.yaml'], apply: 'replace' } }, true],
  [
    { ...POOL, spec: { ...selector, rollout: { maxUnavailable: '10%', soak: '0s', onFailure: { threshold: 2 } } } },
    true,
  ],
  [{ ...POOL, spec: { ...selector, trial: { duration: '1h30m', startTimeout: '90s', maxRestarts: 0 } } }, true],
  [{ ...POOL, spec: { ...selector, fields: { allow: ['featureGates.NodeSwap', 'authentication'], deny: [] } } }, true],
  [{ ...POOL, spec: { nodeSelector: { matchExpressions: [{ key: 'a/b', operator: 'In', values: ['c'] }] } } }, true],
  [{ ...POOL, spec: { nodeSelector: { matchLabels: { 'example.com/zone': '' } } } }, true],
  [{ ...CLUSTER, spec: { kubeletVersions: ['1.34', 'v1.33.2'], maxUnassign: 0 } }, true],
  [{ ...CLUSTER, spec: null }, true],
  [CLUSTER, true],
  [{ ...POOL, spec: { ...selector, suspend: true, rollout: ROLLOUT } }, true],
  [
    { ...POOL, spec: { ...selector, rollout: { canary: { selector: { matchLabels: { a: 'b' } } }, steps: null } } },
    true,
  ],
  [{ ...POOL, spec: { ...selector, disruption: { allow: ['restart', 'reboot'], reboot: REBOOT } } }, true],
  [{ ...POOL, spec: { ...selector, disruption: { drainTimeout: '1h' }, blockers: { pods: PODS } } }, true],
  [{ ...POOL, spec: { ...selector, blockers: { prometheus: { url: 'https://a:9090', alerts: ['A b'] } } } }, true],
  [{ ...CLUSTER, spec: { maxChange: '50%', maxUnavailable: 5, suspend: false, windows: { allow: [WINDOW] } } }, true],
  [
    { ...POOL, spec: { ...selector, rollout: analysed({ measures: null, thresholds: { cpu: { least: 0.5 } } }) } },
    true,
  ],
  [
    { ...POOL, spec: { ...selector, rollout: analysed({ measures: [], ...asked({ least: 1, worse: 'down' }) }) } },
    true,
  ],
  [{ ...POOL, spec: { ...selector, rollout: analysed(asked({ above: -0.5, below: null })) } }, true],
  [{ ...POOL, spec: { ...selector, rollout: analysed({ measures: [] }) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed(asked({})) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed(asked({ least: 0 })) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed(asked({ least: 1, above: 1 })) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed(asked({ least: 1, worse: 'sideways' })) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed(asked({ above: 1, percent: 5 })) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed(asked({ above: 1, name: 'two words' })) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed({ prometheus: { url: 'http://p' } }) } }, false],
  [{ ...POOL, spec: { ...selector, rollout: analysed({ prometheus: { url: 'http://p', queries: [] } }) } }, false],
  [POOL, false],
  [{ ...POOL, spec: {} }, false],
  [{ ...POOL, spec: { ...selector, prioritie: 5 } }, false],
  [{ ...POOL, spec: { ...selector, priority: '5' } }, false],
  [{ ...POOL, spec: { ...selector, layers: [] } }, false],
  [{ ...POOL, spec: { ...selector, layers: ['/etc/passwd'] } }, false],
  [{ ...POOL, spec: { ...selector, apply: 'merge' } }, false],
  [{ ...POOL, spec: { ...selector, drift: true } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { maxUnavailable: '110%' } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { onFailure: { threshold: '0%' } } } }, false],
  [{ ...POOL, spec: { ...selector, trial: { duration: '2 days' } } }, false],
  [{ ...POOL, spec: { ...selector, trial: { maxRestarts: 1001 } } }, false],
  [{ ...POOL, spec: { ...selector, fields: { allow: ['maxPodz'] } } }, false],
  [{ ...POOL, spec: { nodeSelector: { matchLabels: { 'a b': 'c' } } } }, false],
  [{ ...POOL, spec: { nodeSelector: { matchLabels: { a: true } } } }, false],
  [{ ...POOL, spec: { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'in', values: ['c'] }] } } }, false],
  [{ ...CLUSTER, spec: { kubeletVersions: [1.34] } }, false],
  [{ ...CLUSTER, spec: { kubeletVersions: ['1.19'] } }, false],
  [{ ...CLUSTER, spec: { kubeletVersion: ['1.34'] } }, false],
  [{ ...CLUSTER, spec: { maxUnassign: '20' } }, false],
  [{ ...POOL, spec: { ...selector, suspend: 'yes' } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { canary: {} } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { canary: { nodes: 1, selector: { matchLabels: { a: 'b' } } } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { canary: { selector: {} } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { canary: { nodes: 0 } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { steps: [] } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { steps: [{ soak: '1h' }] } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { windows: { allow: [] } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { windows: { allow: [{ cron: '0 2 * * *' }] } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { windows: { allow: [{ ...WINDOW, cron: '@daily' }] } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { windows: { allow: [{ ...WINDOW, timeZone: '+01:00' }] } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { windows: { overrun: 'never' } } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { emergency: '' } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { emergency: 'x'.repeat(501) } } }, false],
  [{ ...POOL, spec: { ...selector, rollout: { onFailure: { action: 'undo' } } } }, false],
  [{ ...POOL, spec: { ...selector, disruption: { allow: ['drain'] } } }, false],
  [{ ...POOL, spec: { ...selector, disruption: { allow: ['restart', 'reboot'] } } }, false],
  [{ ...POOL, spec: { ...selector, disruption: { reboot: { by: 'magic' } } } }, false],
  [{ ...POOL, spec: { ...selector, disruption: { reboot: { timeout: '1h' } } } }, false],
  [{ ...POOL, spec: { ...selector, blockers: {} } }, false],
  [{ ...POOL, spec: { ...selector, blockers: { prometheus: { url: 'http://a' } } } }, false],
  [
    { ...POOL, spec: { ...selector, blockers: { prometheus: { url: 'http://a', query: 'up', alerts: ['A'] } } } },
    false,
  ],
  [{ ...POOL, spec: { ...selector, blockers: { prometheus: { url: 'http://a:b@c', query: 'up' } } } }, false],
  [{ ...POOL, spec: { ...selector, blockers: { prometheus: { url: 'ftp://a', query: 'up' } } } }, false],
  [{ ...POOL, spec: { ...selector, blockers: { prometheus: { query: 'up' } } } }, false],
  [{ ...POOL, spec: { ...selector, blockers: { pods: {} } } }, false],
  [{ ...POOL, spec: { ...selector, blockers: { pods: { selector: {} } } } }, false],
  [{ ...CLUSTER, spec: { maxChange: '101%' } }, false],
  [{ ...CLUSTER, spec: { windows: [WINDOW] } }, false],
  [{ ...CLUSTER, kind: 'Cluster' }, false],
];

describe('the schemas of our own files', () => {
  for (const [document, taken] of OURS) {
    const isPool = 'kind' in document && document.kind === 'KubeletPool';
    it(`${taken ? 'take' : 'refuse'} ${JSON.stringify({ ...document, apiVersion: undefined })}`, () => {
      const report = fileReport('x', () => undefined);
      if (isPool) readPool(document, 'x', report);
      else readCluster(document, 'x', report);
      assert.deepEqual(!hasErrors(report.findings), taken, JSON.stringify(report.findings));
      const schema = schemaAt(`schemas/${isPool ? 'kubelet-pool' : 'cluster-config'}.json`);
      assert.equal(schema(document), taken, errorsOf(schema));
    });
  }
});

describe('the files of the template', () => {
  const files = globSync(`${TEMPLATE}/{base,clusters,pools}/**/*.yaml`);

  it('name the schema that they keep to', () => {
    assert.ok(files.length >= 8);
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      const named = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? '';
      const path = normalize(join(dirname(file), named));
      assert.match(path, /^config-repo-template\/\.schemas\/[a-z0-9.-]+\.json$/, `${file}: first line`);
      const schema = schemaAt(path);
      assert.ok(schema(parse(text)), `${file}: ${errorsOf(schema)}`);
      assert.ok(schema(decodeYaml(Buffer.from(text)).value), file);
    }
  });

  it('are KubeletConfigurations of the versions that their cluster runs', () => {
    const { spec } = parse(readFileSync(`${TEMPLATE}/clusters/demo.yaml`, 'utf8')) as {
      readonly spec: { readonly kubeletVersions: readonly string[] };
    };
    for (const file of files.filter((path) => decodeKubeletConfig(readFileSync(path)).value !== undefined)) {
      assert.ok(readFileSync(file, 'utf8').includes(`kubelet-configuration-${spec.kubeletVersions[0]}.json`), file);
    }
  });
});

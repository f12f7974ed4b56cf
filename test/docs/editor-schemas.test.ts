import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { decodeKubeletConfig, decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { gateNames } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { hasErrors } from '#shared/contract/finding.ts';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { readCluster } from '#reconciler/policy/repo/read-cluster.ts';
import { readPool, readPoolDenials } from '#reconciler/policy/repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/repo/report.ts';
import { generateEditorSchemas } from '../../scripts/generate/editor-schemas.ts';
import { bundle } from '../../scripts/build.ts';
import { meaningOf } from '../../scripts/generate/field-meanings/meanings.ts';
import { generate } from '../oracle/corpus/generate.ts';
import { runsOf, sampleOf } from '../support/sample.ts';

const MINORS = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => minorName(OLDEST_MINOR + index));
const TEMPLATE = 'config-repo-template';

const compiled = new Map<string, ValidateFunction>();
/** Strict: a keyword that ajv does not know, or that cannot matter where it stands, is an error in the schema. */
function schemaAt(path: string): ValidateFunction {
  const known = compiled.get(path);
  if (known !== undefined) return known;
  // The last one is the YAML language server's own.
  const ajv = new Ajv({ strict: true, strictTypes: false, allErrors: true, keywords: ['patternErrorMessage'] });
  const schema = ajv.compile(JSON.parse(readFileSync(path, 'utf8')) as object);
  compiled.set(path, schema);
  return schema;
}
const kubeletSchema = (minor: string): ValidateFunction => schemaAt(`schemas/kubelet-configuration-${minor}.json`);

const HEAD = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

/** What each field says, and from when to when both the validator and the schema take it. */
const CASES: readonly {
  readonly config: Readonly<Record<string, unknown>>;
  readonly from: string;
  readonly to: string;
}[] = [
  { config: {}, from: '1.20', to: '1.37' },
  { config: { maxPods: 110 }, from: '1.20', to: '1.37' },
  { config: { maxPods: null }, from: '1.20', to: '1.37' },
  { config: { maxPods: 0 }, from: '1.20', to: '1.37' },
  { config: { nodeLeaseDurationSeconds: 0 }, from: '1.20', to: '1.37' },
  { config: { containerLogMaxWorkers: 2 }, from: '1.30', to: '1.37' },
  { config: { failCgroupV1: true }, from: '1.31', to: '1.37' },
  { config: { logging: { sanitization: false } }, from: '1.20', to: '1.23' },
  { config: { logging: { flushFrequency: '5s' } }, from: '1.28', to: '1.37' },
  { config: { logging: { flushFrequency: 5_000_000_000 } }, from: '1.23', to: '1.37' },
  { config: { syncFrequency: '1m30s' }, from: '1.20', to: '1.37' },
  { config: { syncFrequency: '0' }, from: '1.20', to: '1.37' },
  {
    config: { memorySwap: { swapBehavior: 'LimitedSwap' }, featureGates: { NodeSwap: true } },
    from: '1.22',
    to: '1.37',
  },
  { config: { memorySwap: { swapBehavior: 'NoSwap' }, featureGates: { NodeSwap: true } }, from: '1.30', to: '1.37' },
  { config: { memorySwap: { swapBehavior: '' } }, from: '1.22', to: '1.37' },
  { config: { cgroupDriver: 'other' }, from: '1.20', to: '1.37' },
  {
    config: { enforceNodeAllocatable: ['pods', 'kube-reserved-compressible'], kubeReservedCgroup: '/kube' },
    from: '1.32',
    to: '1.37',
  },
  { config: { reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }] }, from: '1.21', to: '1.37' },
  { config: { evictionHard: { 'memory.available': '200Mi' } }, from: '1.20', to: '1.37' },
  { config: { featureGates: { CPUManager: true } }, from: '1.20', to: '1.32' },
  { config: { featureGates: { CPUManager: false } }, from: '1.20', to: '1.25' },
  // Refused by both in every version.
  { config: { maxPodz: 110 }, from: '', to: '' },
  { config: { maxpods: 110 }, from: '', to: '' },
  { config: { maxPods: '110' }, from: '', to: '' },
  { config: { maxPods: -1 }, from: '', to: '' },
  { config: { maxPods: 1.5 }, from: '', to: '' },
  { config: { nodeLeaseDurationSeconds: -1 }, from: '', to: '' },
  { config: { imageGCHighThresholdPercent: 101 }, from: '', to: '' },
  { config: { containerLogMaxFiles: 1 }, from: '', to: '' },
  { config: { cpuManagerPolicy: 'Static' }, from: '', to: '' },
  { config: { syncFrequency: '1 minute' }, from: '', to: '' },
  { config: { syncFrequency: '' }, from: '', to: '' },
  { config: { syncFrequency: 60 }, from: '', to: '' },
  { config: { failSwapOn: 'no' }, from: '', to: '' },
  { config: { clusterDNS: '10.0.0.10' }, from: '', to: '' },
  { config: { evictionHard: { 'memory.available': 200 } }, from: '', to: '' },
  { config: { enforceNodeAllocatable: ['pod'] }, from: '', to: '' },
  { config: { featureGates: { NoSuchGate: true } }, from: '', to: '' },
  { config: { authentication: { webhook: { enable: true } } }, from: '', to: '' },
  // Keys and texts of maps.
  { config: { evictionHard: { 'memory.available': '5%' } }, from: '1.20', to: '1.37' },
  { config: { evictionHard: { 'nodefs.available': '12.5%' } }, from: '1.20', to: '1.37' },
  { config: { evictionHard: { 'containerfs.available': '10%' } }, from: '1.29', to: '1.37' },
  { config: { evictionHard: { 'memory.avail': '200Mi' } }, from: '', to: '' },
  { config: { evictionHard: { 'memory.available': '200MiB' } }, from: '', to: '' },
  { config: { evictionHard: { 'memory.available': '10 %' } }, from: '', to: '' },
  { config: { evictionHard: { 'memory.available': '' } }, from: '', to: '' },
  {
    config: { evictionSoft: { 'pid.available': '10%' }, evictionSoftGracePeriod: { 'pid.available': '1m30s' } },
    from: '1.20',
    to: '1.37',
  },
  { config: { evictionSoftGracePeriod: { 'memory.available': '90' } }, from: '', to: '' },
  { config: { evictionSoftGracePeriod: { 'memory.availble': '90s' } }, from: '', to: '' },
  { config: { evictionMinimumReclaim: { 'nodefs.available': '1Gi' } }, from: '1.20', to: '1.37' },
  { config: { evictionMinimumReclaim: { nodefs: '1Gi' } }, from: '', to: '' },
  { config: { systemReserved: { cpu: '100m', memory: '1Gi', pid: '1000' } }, from: '1.20', to: '1.37' },
  // What nobody writes and kubelets read: an amount without a digit, hexadecimals, spaces around a quantity.
  { config: { systemReserved: { cpu: 'k' } }, from: '1.20', to: '1.37' },
  { config: { evictionHard: { 'nodefs.available': '0x1p3%' } }, from: '1.20', to: '1.37' },
  { config: { reservedMemory: [{ numaNode: 0, limits: { memory: ' 1Gi ' } }] }, from: '1.21', to: '1.37' },
  { config: { systemReserved: { memroy: '1Gi' } }, from: '', to: '' },
  { config: { systemReserved: { memory: '500MB' } }, from: '', to: '' },
  { config: { kubeReserved: { 'ephemeral-storage': '1Gi' } }, from: '1.20', to: '1.37' },
  { config: { kubeReserved: { storage: '1Gi' } }, from: '', to: '' },
  { config: { kubeReserved: { memory: '50MiB' } }, from: '', to: '' },
  { config: { qosReserved: { memory: '50' }, featureGates: { QOSReserved: true } }, from: '', to: '' },
  { config: { reservedMemory: [{ numaNode: 0, limits: { 'hugepages-64Ki': '1Gi' } }] }, from: '1.21', to: '1.37' },
  { config: { reservedMemory: [{ numaNode: 0, limits: { memroy: '1Gi' } }] }, from: '', to: '' },
  { config: { reservedMemory: [{ numaNode: 0, limits: { memory: '1GB' } }] }, from: '', to: '' },
  { config: { reservedSystemCPUs: '0-3,7' }, from: '1.20', to: '1.37' },
  { config: { reservedSystemCPUs: '1-2-3' }, from: '1.20', to: '1.21' },
  { config: { reservedSystemCPUs: '0-x' }, from: '', to: '' },
  { config: { reservedSystemCPUs: '0 - 3' }, from: '', to: '' },
  { config: { containerLogMaxSize: '50Mi' }, from: '1.20', to: '1.37' },
  { config: { containerLogMaxSize: '50MB' }, from: '', to: '' },
  { config: { evictionPressureTransitionPeriod: '1d' }, from: '', to: '' },
  // While its gate is off, a field takes any word.
  { config: { memorySwap: { swapBehavior: 'Much' }, featureGates: { NodeSwap: true } }, from: '', to: '' },
  { config: { memorySwap: { swapBehavior: 'Much' } }, from: '1.22', to: '1.29' },
];

const said = (config: object, minor: string) =>
  validateKubeletConfig({ ...HEAD, ...config }, { minor, apply: 'overlay' });
const refusedBy = (config: object, minor: string): boolean =>
  said(config, minor).some(({ severity }) => severity === 'error');

/** To take back what a version does not know does no harm, and the schema does not offer it. */
const withoutNulls = (value: object): object =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? Number(inner) : (inner ?? undefined))),
  ) as object;

interface Shown {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Shown>>;
}
const schemaText = (minor: string): { readonly properties: Readonly<Record<string, Shown>> } =>
  JSON.parse(readFileSync(`schemas/kubelet-configuration-${minor}.json`, 'utf8')) as {
    readonly properties: Readonly<Record<string, Shown>>;
  };

const errorsOf = (schema: ValidateFunction): string =>
  (schema.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');

describe('the schemas for editors', () => {
  it('are what the table of fields makes them', () => {
    for (const [path, text] of generateEditorSchemas()) {
      assert.equal(readFileSync(path, 'utf8'), text, `${path}: run npm run generate`);
    }
  });

  it('are there for every minor version, and compile under the strictest rules', () => {
    for (const minor of MINORS) assert.equal(kubeletSchema(minor)(HEAD), true, minor);
  });

  it('refuse what the validator refuses, and take what it takes, version by version', () => {
    const number = (minor: string): number => Number(minor.slice(2));
    for (const { config, from, to } of CASES) {
      for (const minor of MINORS) {
        const taken = from !== '' && number(minor) >= number(from) && number(minor) <= number(to);
        const told = `${JSON.stringify(config)} at ${minor}`;
        const schema = kubeletSchema(minor);
        const passes = schema({ ...HEAD, ...config });
        assert.equal(passes, taken, `schema: ${told}: ${errorsOf(schema)}`);
        assert.equal(!refusedBy(config, minor), taken, `validator: ${told}`);
      }
    }
  });

  it('never refuse a single field that the validator takes without a word', () => {
    const values = [true, false, 0, 1, 7, -1, '', 'none', '10s', '100Mi', '5', [], ['pods'], {}, { a: 'b' }, null];
    for (const [index, minor] of ['1.20', '1.27', '1.34', '1.36'].entries()) {
      const schema = kubeletSchema(minor);
      for (const [path, field] of sampleOf([...FIELDS], 3, index)) {
        // To take back what the version does not know does no harm, and is no reason to offer the field.
        if (path.includes('[]') || !existsIn(field, Number(minor.slice(2)))) continue;
        for (const value of values) {
          const config = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
          if (schema({ ...HEAD, ...config }) || said(config, minor).length > 0) continue;
          assert.fail(`${path}: ${JSON.stringify(value)} at ${minor}: only the schema refuses it: ${errorsOf(schema)}`);
        }
      }
    }
  });

  it('never refuse a file that the validator takes', () => {
    let taken = 0;
    for (const { name, text } of generate(runsOf(12_000, 6), 17)) {
      const { value } = decodeYaml(Buffer.from(text));
      if (typeof value !== 'object' || value === null) continue;
      for (const minor of ['1.20', '1.21', '1.28', '1.37']) {
        if (refusedBy(value, minor)) continue;
        taken += 1;
        const schema = kubeletSchema(minor);
        const isTaken = schema({ ...withoutNulls(value), ...HEAD });
        assert.ok(isTaken, `${name} at ${minor}: only the schema refuses it: ${errorsOf(schema)}\n${text}`);
      }
    }
    assert.ok(taken > 500, String(taken));
  });

  it('offer every key of a map that the kubelet knows, with what it means', () => {
    const { properties } = schemaText('1.34');
    const keysOf = (field: string): readonly string[] => Object.keys(properties[field]?.properties ?? {});
    for (const field of ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim']) {
      assert.ok(keysOf(field).includes('memory.available') && keysOf(field).length === 9, field);
    }
    for (const field of ['kubeReserved', 'systemReserved']) {
      assert.deepEqual(keysOf(field), ['cpu', 'memory', 'ephemeral-storage', 'pid']);
    }
    assert.ok(keysOf('cpuManagerPolicyOptions').includes('full-pcpus-only'));
    for (const field of ['evictionHard', 'kubeReserved', 'systemReserved', 'featureGates']) {
      for (const [key, { description = '' }] of Object.entries(properties[field]?.properties ?? {})) {
        assert.match(description, /\w\w/, `${field}.${key}`);
      }
    }
  });

  it('know each gate as the validator does', () => {
    for (const minor of ['1.20', '1.29', '1.36']) {
      const schema = kubeletSchema(minor);
      for (const name of gateNames()) {
        for (const value of [true, false]) {
          const featureGates = { [name]: value };
          const alone = validateKubeletConfig({ ...HEAD, featureGates }, { minor, apply: 'overlay' });
          const isKnown = !alone.some(({ code }) => code === 'unknown-feature-gate' || code === 'locked-feature-gate');
          assert.equal(schema({ ...HEAD, featureGates }), isKnown, `${name}: ${value} at ${minor}`);
        }
      }
    }
  });

  it('tell an editor what a field means, and below that what it costs', () => {
    const { properties } = schemaText('1.34');
    assert.equal(properties['maxPods']?.default, 110);
    assert.match(
      properties['maxPods']?.description ?? '',
      /^How many pods may run on the node\.\n\nDefault 110\. A change/,
    );
    assert.match(properties['cpuManagerPolicy']?.description ?? '', /^static gives .*\n\n.*state file is put aside/);
    assert.match(properties['memorySwap']?.description ?? '', /drain/);
    assert.match(properties['port']?.description ?? '', /Denied unless fields\.allow lists it/);
  });

  it('say of a text that is written wrong how to write it, and not the pattern', () => {
    for (const [path, pattern, message] of patternsOf(schemaText('1.34'))) {
      assert.match(message ?? '', /^Not a .*: write /, `${path}: ${pattern}`);
    }
  });
});

describe('the meaning of a field', () => {
  it('is one short sentence for every field of the table', () => {
    for (const path of FIELDS.keys()) {
      const meaning = meaningOf(path);
      const words = meaning.split(/\s+/).length;
      assert.ok(words >= 3 && words <= 22 && !/\.(?:$| )/.test(meaning), `${path}: ${meaning}`);
    }
  });

  it('is in no program', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'meanings-'));
    try {
      for (const program of ['agent', 'reconciler'] as const) {
        const { inputs } = await bundle(program, folder);
        assert.deepEqual(
          Object.keys(inputs).filter((input) => input.startsWith('scripts/generate/')),
          [],
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Where texts are held to a pattern, and what is said where they break it. */
function patternsOf(
  schema: object,
  path = '',
): readonly (readonly [path: string, pattern: string, message: string | undefined])[] {
  return Object.entries(schema).flatMap(([key, value]: readonly [string, unknown]) => {
    if (key === 'pattern' && typeof value === 'string') {
      const message = 'patternErrorMessage' in schema ? String(schema.patternErrorMessage) : undefined;
      return [[path, value, message] as const];
    }
    return typeof value === 'object' && value !== null ? patternsOf(value, `${path}/${key}`) : [];
  });
}

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
      if (isPool) {
        readPool(document, 'x', report);
        readPoolDenials(document, report);
      } else readCluster(document, 'x', report);
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

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { ValidateFunction } from 'ajv';
import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { gateNames } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { generateEditorSchemas } from '../../scripts/generate/editor-schemas.ts';
import { bundle } from '../../scripts/build.ts';
import { meaningOf } from '../../scripts/generate/field-meanings/meanings.ts';
import { generate } from '../oracle/corpus/generate.ts';
import { runsOf, sampleOf } from '../support/sample.ts';
import { errorsOf, schemaAt } from './support/compiled-schema.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const MINORS = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => minorName(OLDEST_MINOR + index));

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

  it('is in no program', async (t) => {
    const folder = temporaryDirectory(t);
    for (const program of ['agent', 'reconciler'] as const) {
      const { inputs } = await bundle(program, folder);
      assert.deepEqual(
        Object.keys(inputs).filter((input) => input.startsWith('scripts/generate/')),
        [],
      );
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

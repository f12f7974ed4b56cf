import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { validateConfigFile } from '#cli/validate/validate-file.ts';
import { hasErrors } from '#shared/contract/finding.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { PROFILE_NAMES } from '#reconciler/policy/templates/profiles.ts';

interface Shown {
  readonly description?: string;
  readonly $ref?: string;
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Shown[];
  readonly properties?: Readonly<Record<string, Shown>>;
}

const SCHEMA = JSON.parse(readFileSync('schemas/computed-kubelet-configuration.json', 'utf8')) as Shown & {
  readonly definitions: { readonly bounds: Shown };
};
const taken = new Ajv({ strict: true, strictTypes: false, allErrors: true }).compile(SCHEMA);
const HEAD = { apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'ComputedKubeletConfiguration' };
const MEMORY = { systemReserved: { memory: 'memory * 0.05' } };
const bounded = (bounds: unknown) => ({ ...HEAD, computed: MEMORY, bounds: { systemReserved: { memory: bounds } } });

/** What validate says of a file, and whether the schema has to say the same. It may take more, and never less. */
const FILES: readonly (readonly [file: object, isRight: boolean, isSeen?: false])[] = [
  ...PROFILE_NAMES.map((profile) => [{ ...HEAD, profile }, true] as const),
  [{ ...HEAD, computed: MEMORY }, true],
  [{ ...HEAD, profile: 'gke', computed: { kubeReserved: { memory: null } } }, true],
  [{ ...HEAD, profile: 'gke', computed: null, bounds: null }, true],
  [{ ...HEAD, profile: 'gke', computed: { kubeReserved: null } }, true],
  [{ ...HEAD, computed: { maxPods: 'max(30, milliCpu / 100)' } }, true],
  [{ ...HEAD, computed: { evictionHard: { 'memory.available': 'memory * 0.02' } } }, true],
  [{ ...HEAD, computed: { memorySwap: { swapBehavior: '"NoSwap"' } } }, true],
  [{ ...HEAD, computed: { imageMaximumGCAge: '"24h"' } }, true],
  [bounded({ min: '255Mi', max: '8Gi', maxShare: '25%' }), true],
  [bounded({ min: 1024, max: null }), true],
  [bounded({ maxShare: '+25%' }), true],
  [HEAD, false],
  [{ ...HEAD, profile: null }, false],
  [{ ...HEAD, profile: 'azure' }, false],
  [{ ...HEAD, kind: 'ComputedKubeletConfigurations', profile: 'gke' }, false],
  [{ ...HEAD, apiVersion: 'kubelet.config.k8s.io/v1beta1', profile: 'gke' }, false],
  [{ ...HEAD, profile: 'gke', bound: {} }, false],
  [{ ...HEAD, profile: 'gke', spec: {} }, false],
  [{ ...HEAD, computed: { maxPodz: '110' } }, false],
  [{ ...HEAD, computed: { maxPods: 110 } }, false],
  [{ ...HEAD, computed: { maxPods: '' } }, false],
  [{ ...HEAD, computed: { systemReserved: { memory: ['memory'] } } }, false],
  [{ ...HEAD, computed: { enforceNodeAllocatable: '"pods"' } }, false],
  [{ ...HEAD, computed: { systemReserved: { memory: `memory * ${'1.0'.repeat(400)}` } } }, false],
  [bounded({ least: '255Mi' }), false],
  [bounded({ maxShare: '25' }), false],
  [bounded({ maxShare: 0.25 }), false],
  [bounded('255Mi'), false],
  // Only validate knows the language.
  [{ ...HEAD, computed: { maxPods: 'memry' } }, false, false],
  [bounded({ min: 'much' }), false, false],
];

describe('the schema of a layer with computed values', () => {
  for (const [file, isRight, isSeen = true] of FILES) {
    it(`${isRight ? 'takes' : isSeen ? 'refuses' : 'leaves to validate'} ${JSON.stringify(file).slice(0, 140)}`, () => {
      const { findings } = validateConfigFile('x', Buffer.from(JSON.stringify(file)), ['1.36']);
      assert.equal(!hasErrors(findings), isRight, JSON.stringify(findings));
      assert.equal(taken(file), isRight || !isSeen, JSON.stringify(taken.errors));
    });
  }

  it('says of every key what it means', () => {
    const silent: string[] = [];
    const look = (shown: Shown, path: string): void => {
      if (path !== '' && shown.description === undefined && shown.$ref === undefined && shown.const === undefined)
        silent.push(path);
      for (const [key, below] of Object.entries(shown.properties ?? {}))
        look(below, path === '' ? key : `${path}.${key}`);
    };
    look(SCHEMA, '');
    look(SCHEMA.definitions.bounds, 'bounds.*');
    assert.deepEqual(
      silent.filter((path) => !path.startsWith('bounds.')),
      [],
    );
    for (const key of ['min', 'max', 'maxShare'])
      assert.match(SCHEMA.definitions.bounds.properties?.[key]?.description ?? '', /./);
    const { computed, profile } = SCHEMA.properties ?? {};
    assert.match(computed?.description ?? '', /\bmemory\b.*\bmaxPods\b.*\bquantity\b.*\bbetween\b/);
    const { memory, cpu } = computed?.properties?.['systemReserved']?.properties ?? {};
    assert.match(memory?.description ?? '', /^Memory kept back from pods\.\n\nAn expression/);
    assert.match(cpu?.description ?? '', /^CPU time kept back from pods/);
    for (const name of PROFILE_NAMES) {
      const said = profile?.anyOf?.find((each) => each.const === name)?.description ?? '';
      assert.match(said, /Reserved\.memory: .*From https:/s);
    }
  });

  it('knows every field that an expression can give, of all versions', () => {
    const fields = [...FIELDS].filter(([path, { kind }]) => !path.includes('[]') && !kind.includes('list'));
    const at = (path: string, root: Shown | undefined): Shown | undefined =>
      path.split('.').reduce((here, key) => here?.properties?.[key], root);
    for (const tree of ['computed', 'bounds'] as const) {
      const missing = fields.filter(([path]) => at(path, SCHEMA.properties?.[tree]) === undefined);
      assert.deepEqual(
        missing.map(([path]) => path),
        [],
      );
    }
    assert.ok(fields.length > 100);
  });
});

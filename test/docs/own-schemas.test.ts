import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { customResource } from '#sandbox/api-server/resources/custom.ts';
import { pruneAndDefault } from '#sandbox/api-server/schema/prune-and-default.ts';
import { createValidator } from '#sandbox/api-server/schema/validator.ts';
import { decodeKubeletConfig, decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { readCluster } from '#reconciler/policy/config-repo/read-cluster.ts';
import { readComputed } from '#reconciler/policy/config-repo/read-computed.ts';
import { readPool } from '#reconciler/policy/config-repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { EVERY_POINT, sampleOf } from '../support/sample.ts';
import { errorsOf, schemaAt } from './support/compiled-schema.ts';
import { type Node, placesIn, RIGHT, samples, schemaOf, SCHEMAS } from './support/corpus.ts';

const TEMPLATE = 'config-repo-template';

/** What validate alone refuses, as code and field: a schema cannot say it. */
const ONLY_VALIDATE: readonly (readonly [what: string, findings: RegExp])[] = [
  ['what cron and time zones are', /^bad-(?:cron|time-zone) /],
  ['how long a time is', /^bad-duration /],
  ['what an address is', /^bad-url /],
  ['what is a path in this repository, and named once', /^(?:bad-path|duplicate-item) spec\.layers/],
  ['which name the path says', /^wrong-name metadata\.name/],
  ['values that go with an operator', /^missing-field \S+\.values$/],
  ['what goes with canaries', /^missing-field spec\.rollout\.analysis$/],
  ['what follows on each other', /^out-of-range \S+\.steps\[\d+\]\.nodes$/],
  ['which wave leaves nobody to wait', /^conflict \S+\.pause$/],
  ['names that occur once', /^duplicate-item \S+\.queries\[\d+\]\.name$/],
  ['how far something can fall', /^out-of-range \S+\.queries\[\d+\]\.percent$/],
  ['CEL', /^bad-expression computed\./],
  ['quantities and shares', /^(?:bad-quantity|wrong-type|out-of-range) bounds\./],
  ['bounds of what is computed', /^unknown-field bounds\./],
];

/** What an API server does not ask, as keywords of ajv: unknown keys and nulls are gone by then, and it has no branches. */
const ONLY_IN_GIT =
  /^(?:additionalProperties|propertyNames|oneOf|anyOf|not|contains|dependencies|uniqueItems|minItems|exclusiveMinimum|const|minProperties)$/;

const IN_BRANCH = /\/(?:anyOf|oneOf)\/\d/;
/** What the regular expressions of an API server do not have. */
const LOOKS_AROUND = /\(\?<?[=!]/;

const crd: unknown = parse(readFileSync('deploy/crds/kubeletpools.yaml', 'utf8'));
const definition = customResource(crd as Parameters<typeof customResource>[0]).schema;
const inCluster = createValidator(definition);

const READERS = {
  KubeletPool: readPool,
  ClusterConfig: readCluster,
  ComputedKubeletConfiguration: (file: unknown, _: string, report: ReturnType<typeof fileReport>) =>
    readComputed(file, report, () => undefined),
};

/** Code and field of each error. */
function errorsIn(kind: keyof typeof READERS, document: unknown): readonly string[] {
  const report = fileReport('x', () => undefined);
  READERS[kind](document, kind === 'ClusterConfig' ? 'prod' : 'x', report);
  return report.findings.flatMap(({ severity, code, field }) =>
    severity === 'error' ? [`${code} ${field ?? ''}`] : [],
  );
}

/** The paths of all keys below a schema: `spec.rollout.steps[].soak`. */
const keysOf = ({ properties = {}, items }: Node, at = ''): readonly string[] => [
  ...(items === undefined ? [] : keysOf(items, `${at}[]`)),
  ...Object.entries(properties).flatMap(([key, below]) => {
    const path = at === '' ? key : `${at}.${key}`;
    return [path, ...keysOf(below, path)];
  }),
];

describe('the schemas of our own files', () => {
  const all = [...samples()];
  const tried = sampleOf(all, 7);

  it('are tried with every key of pools and cluster files', () => {
    assert.ok(all.length > 10_000, String(all.length));
    for (const kind of ['KubeletPool', 'ClusterConfig'] as const) {
      const written = new Set(
        RIGHT.filter(([of]) => of === kind).flatMap(([, right]) =>
          [...placesIn(right)].map(([at]) =>
            at.reduce<string>(
              (path, step) => (typeof step === 'number' ? `${path}[]` : path === '' ? step : `${path}.${step}`),
              '',
            ),
          ),
        ),
      );
      assert.deepEqual(
        keysOf(schemaOf(kind)).filter((key) => !written.has(key)),
        [],
      );
    }
  });

  it('refuse what validate refuses and take what it takes, but for what a schema cannot say', () => {
    const unused = new Set(ONLY_VALIDATE.map(([what]) => what));
    for (const { kind, name, document } of tried) {
      const schema = schemaAt(SCHEMAS[kind]);
      const isTaken = schema(document);
      const errors = errorsIn(kind, document);
      // Which fields a layer may compute is the kubelet's to say.
      const isKubelets = (schema.errors ?? []).every(
        ({ instancePath, keyword }) =>
          /^\/(?:computed|bounds)/.test(instancePath) && /^additional|Length$/.test(keyword),
      );
      if (!isTaken)
        assert.ok(
          errors.length > 0 || (isKubelets && kind === 'ComputedKubeletConfiguration'),
          `${kind} ${name}: only the schema refuses it: ${errorsOf(schema)}`,
        );
      else {
        for (const error of errors) {
          const [row] = ONLY_VALIDATE.filter(([, findings]) => findings.test(error));
          assert.ok(row !== undefined, `${kind} ${name}: only validate refuses it: ${error}`);
          unused.delete(row[0]);
        }
      }
    }
    if (EVERY_POINT) assert.deepEqual([...unused], []);
  });

  it('refuse what an API server would refuse after the merge, and take what it takes, but for what it does not ask', () => {
    const schema = schemaAt(SCHEMAS.KubeletPool);
    for (const { name, document } of tried.filter(({ kind }) => kind === 'KubeletPool')) {
      const { spec, ...head } = document;
      const isTaken = schema(document) && errorsIn('KubeletPool', document).length === 0;
      const stored = isTaken
        ? readPool(
            document,
            'x',
            fileReport('x', () => undefined),
          ).spec
        : spec;
      const object = { ...head, metadata: { name: 'x' }, spec: stored };
      const refused = inCluster(pruneAndDefault(object, definition));
      if (isTaken) assert.deepEqual(refused, [], name);
      // What is absent is filled in on its way there.
      else if (!schema(document) && refused.every(({ reason }) => reason === 'FieldValueRequired')) {
        const asked = (schema.errors ?? []).filter(
          ({ keyword, instancePath, schemaPath }) =>
            !ONLY_IN_GIT.test(keyword) &&
            !IN_BRANCH.test(schemaPath) &&
            // What is allowed to whom stays in git.
            /^\/spec(?!\/fields)/.test(instancePath),
        );
        const isNull = (pointer: string): boolean =>
          pointer
            .split('/')
            .slice(1)
            .map((key) => key.replaceAll('~1', '/'))
            .reduce<unknown>((here, key) => (here as Readonly<Record<string, unknown>>)[key], document) === null;
        assert.deepEqual(
          asked
            .filter(
              ({ instancePath, keyword, params }) =>
                !(
                  isNull(instancePath) ||
                  keyword === 'required' ||
                  LOOKS_AROUND.test(String((params as { readonly pattern?: string }).pattern))
                ),
            )
            .map(({ instancePath, keyword }) => `${name}: ${instancePath} ${keyword}`),
          [],
        );
      }
    }
  });
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

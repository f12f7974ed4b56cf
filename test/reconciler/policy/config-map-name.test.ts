import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredConfigOf } from '#reconciler/policy/config-map-name.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { ConfigSourceView } from '#reconciler/policy/fleet.ts';
import { planConfigSources } from '#reconciler/policy/plan-config-sources.ts';
import { configMapName, otherConfigMapName } from '#shared/contract/config-map-hash.ts';
import { commit, COMMIT_B, configSource, fleetOf, NOW, validPool } from '../../support/fleet.ts';

const HOUR = 3_600_000;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: HOUR };
const workers = validPool('workers', 110);
const accept = () => [];

describe('a config of other bytes', () => {
  const spaced = JSON.stringify(workers.value);
  const older = (view: Partial<ConfigSourceView> = {}): ConfigSourceView =>
    configSource(workers, {
      name: configMapName('workers', spaced),
      payload: spaced,
      sha256: 'old',
      canonicalForm: 0,
      ...view,
    });
  const adopted = (...sources: readonly ConfigSourceView[]): string =>
    desiredConfigOf(workers, new Map(sources.map((source) => [source.name, source]))).name;
  const none = workers.configName;
  const own = older().name;
  const bare: ConfigSourceView = { ...older(), payload: undefined };
  const fake = configMapName('workers', '{');

  const rows: readonly (readonly [string, readonly ConfigSourceView[], string])[] = [
    ['is kept where it means the same', [older()], own],
    ['is not kept where ours is there as well', [older(), configSource(workers)], none],
    [
      'is not kept where something else has the usual name',
      [older(), configSource(workers, { defect: 'leaving' })],
      none,
    ],
    ['is not kept where it is of another pool', [older({ pool: 'other' })], none],
    ['is not kept where it was written in our own form', [older({ canonicalForm: 1 })], none],
    ['is not kept where its bytes are not there', [bare], none],
    ['is not kept where its name is not that of its bytes', [older({ name: 'workers-other' })], none],
    [
      'is not kept where it means something else',
      [older({ name: configMapName('workers', '{}'), payload: '{}' })],
      none,
    ],
    ['is not kept where it cannot be read', [older({ name: fake, payload: '{' })], none],
  ];
  for (const [what, sources, expected] of rows) it(what, () => assert.equal(adopted(...sources), expected));

  it('comes with its own hash and bytes', () => {
    const source = older();
    assert.deepEqual(desiredConfigOf(workers, new Map([[source.name, source]])), {
      name: own,
      sha256: 'old',
      payload: spaced,
    });
  });
});

describe('the name of a config', () => {
  const other = (mark = 'a1', view: Partial<ConfigSourceView> = {}): ConfigSourceView =>
    configSource(workers, { name: otherConfigMapName('workers', mark, workers.payload), ...view });
  const usual = workers.configName;
  const made = (...sources: readonly ConfigSourceView[]) =>
    desiredConfigOf(workers, new Map(sources.map((source) => [source.name, source])));

  const rows: readonly (readonly [string, readonly ConfigSourceView[], string])[] = [
    ['is another one where that was made because the usual was taken', [other()], other().name],
    ['is another one where the usual has other bytes', [configSource(workers, { sha256: 'x' }), other()], other().name],
    [
      'is another one where the usual can be edited',
      [configSource(workers, { defect: 'editable' }), other()],
      other().name,
    ],
    [
      'is another one where the usual is being deleted',
      [configSource(workers, { defect: 'leaving' }), other()],
      other().name,
    ],
    ['is the usual where that is sound', [other(), configSource(workers)], usual],
    ['is the usual where nothing sound is there', [configSource(workers, { defect: 'leaving' })], usual],
    ['is none that can be edited', [other('a1', { defect: 'editable' })], usual],
    ['is none that is being deleted', [other('a1', { defect: 'leaving' })], usual],
    ['is none with other bytes', [other('a1', { sha256: 'x' })], usual],
    ['is none of another pool', [other('a1', { pool: 'gpu' })], usual],
    ['is none whose name is not that of its bytes', [other('a1', { name: 'workers.a1-bcdfghklmt' })], usual],
    ['is none that only begins alike', [other('a1', { name: configMapName('workers-2', workers.payload) })], usual],
  ];
  for (const [what, sources, expected] of rows) it(what, () => assert.equal(made(...sources).name, expected));

  it('is not spoken of where it is the usual one', () => {
    const { pools } = desiredState(commit(COMMIT_B, workers), fleetOf({}), accept);
    assert.deepEqual(pools.get('workers')?.findings, []);
  });

  it('is said to be another one, as a finding of the pool', () => {
    const fleet = fleetOf({ configSources: [other()] });
    const pool = desiredState(commit(COMMIT_B, workers), fleet, accept).pools.get('workers');
    assert.deepEqual(
      pool?.findings.map(({ code, severity, kind, message }) => [
        code,
        severity,
        kind,
        message.includes(usual),
        message.includes(other().name),
      ]),
      [['config-name-taken', 'warning', 'security', true, true]],
    );
    assert.deepEqual(
      planConfigSources(desiredState(commit(COMMIT_B, workers), fleet, accept), fleet, SETTINGS, NOW + 9 * HOUR),
      [],
    );
  });
});

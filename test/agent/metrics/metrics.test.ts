import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { countDecision, NO_COUNTS } from '#agent/metrics/trial-counts.ts';
import { familiesOf } from '#agent/metrics/families.ts';
import { serveMetrics } from '#agent/metrics/metrics-server.ts';
import { metricsText } from '#agent/metrics/text-format.ts';
import { type Config, type Doing, INITIAL_STATE, type State } from '#agent/decide/state.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createAuthority } from '../../shared/kube/support/certificates.ts';
import { WITHOUT_PROMTOOL } from '../../support/required-tools.ts';

const config = (name: string): Config => ({
  source: { namespace: 'ns', name, uid: `uid-${name}`, resourceVersion: '7', key: 'kubelet', sha256: `sha-${name}` },
  apply: 'overlay',
  trial: { durationMs: 1, startTimeoutMs: 1, maxRestarts: 0 },
  drift: 'repair',
  allowFields: [],
  keepFields: [],
  tolerate: [],
});
const A = config('a');
const B = config('b');
const ERROR = { reason: 'CrashLoop', message: 'it died', at: '2026-01-01T00:00:00Z' };

const trialOf = (of: Config): Doing => ({
  phase: 'trial',
  config: of,
  since: '',
  wasReady: true,
  wasHealthy: true,
  before: null,
  strain: { pressures: null, outOfMemory: null, pods: null, bootId: '' },
  warnings: [],
  change: { step: 'install' },
});
const fallingBack = (because: 'failed' | 'unassigned' | 'superseded'): Doing => ({
  phase: 'falling-back',
  to: null,
  because,
  terms: A.trial,
  change: { step: 'install' },
});
const state = (over: Partial<State>): State => ({ ...INITIAL_STATE, ...over });

/** The samples of a text, by name and labels. */
function samplesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

describe('the end of the kubelet’s certificate', () => {
  const served = (certificate?: Buffer): readonly (readonly [string, number])[] =>
    [
      ...samplesIn(
        metricsText(
          familiesOf({ state: INITIAL_STATE, status: undefined, counts: NO_COUNTS, version: '1', certificate }),
        ),
      ),
    ].filter(([name]) => /expiration|validity/.test(name));

  it('is told with the time that it is good in all', () => {
    const { cert } = createAuthority('the kubelet itself', '270101000000Z').issue('node-1');
    const labels = '{purpose="kubelet-serving-certificate"}';
    assert.deepEqual(served(new X509Certificate(cert).raw), [
      [`kubelet_gitops_node_expiration_timestamp_seconds${labels}`, Date.UTC(2027, 0) / 1000],
      [`kubelet_gitops_node_validity_seconds${labels}`, (Date.UTC(2027, 0) - Date.UTC(2020, 0)) / 1000],
    ]);
  });

  it('is not told before one was seen, nor of what is none', () => {
    assert.deepEqual(served(), []);
    assert.deepEqual(served(Buffer.from('no certificate')), []);
  });
});

describe('the four gauges of Dynamic Kubelet Configuration', () => {
  const view = { status: undefined, counts: NO_COUNTS, version: '1' };
  const nameOfOnly = (text: string, gauge: string): string => {
    const found = [...samplesIn(text).keys()].filter((key) => key.startsWith(`kubelet_gitops_node_${gauge}{`));
    assert.equal(found.length, 1, 'never two series at a time');
    return found[0] ?? '';
  };

  it('say local without a uid, a version or a key', () => {
    const text = metricsText(familiesOf({ ...view, state: INITIAL_STATE }));
    for (const gauge of ['config_assigned', 'config_active', 'config_last_known_good']) {
      assert.match(
        nameOfOnly(text, gauge),
        /\{node_config_source="local",node_config_uid="",node_config_resource_version="",node_config_kubelet_key=""\}$/,
      );
    }
    assert.equal(samplesIn(text).get('kubelet_gitops_node_config_error'), 0);
  });

  it('do not say local of a node whose state was lost', () => {
    const [phase, conditions] = ['Idle', []] as const;
    const status = { phase, conditions, status: { active: { name: 'unknown' } } } as const;
    const text = metricsText(familiesOf({ ...view, status, state: INITIAL_STATE }));
    for (const gauge of ['config_active', 'config_last_known_good'])
      assert.match(nameOfOnly(text, gauge), /\{node_config_source="unknown",node_config_uid="",/);
    assert.match(nameOfOnly(text, 'config_assigned'), /="local"/);
  });

  it('name what is assigned, what is on trial and what the node would fall back to', () => {
    const text = metricsText(
      familiesOf({ ...view, state: state({ assigned: B, lastKnownGood: A, doing: trialOf(B) }) }),
    );
    const b = '{node_config_source="/api/v1/namespaces/ns/configmaps/b",node_config_uid="uid-b",';
    assert.ok(nameOfOnly(text, 'config_assigned').includes(b));
    assert.ok(nameOfOnly(text, 'config_active').includes(b));
    assert.ok(nameOfOnly(text, 'config_last_known_good').includes('/configmaps/a"'));
  });

  it('show an error as 1, and its reason beside it', () => {
    const samples = samplesIn(metricsText(familiesOf({ ...view, state: state({ error: ERROR }) })));
    assert.equal(samples.get('kubelet_gitops_node_config_error'), 1);
    assert.equal(samples.get('kubelet_gitops_node_config_error_info{reason="CrashLoop"}'), 1);
  });
});

describe('what is counted', () => {
  const count = (before: Partial<State>, after: Partial<State>) =>
    countDecision(NO_COUNTS, state(before), state(after));
  const onTrial = { assigned: A, doing: trialOf(A) };

  it('a promotion, a failure with its reason, and a trial that another assignment cut short', () => {
    assert.equal(count(onTrial, { assigned: A, lastKnownGood: A }).trials.promoted, 1);
    assert.equal(count(onTrial, { assigned: B, doing: trialOf(B) }).trials.superseded, 1);
    assert.equal(count(onTrial, { doing: fallingBack('unassigned') }).trials.superseded, 1);
    const failed = count(onTrial, { doing: fallingBack('failed'), error: ERROR });
    assert.deepEqual([failed.trials.failed, failed.fallbacks], [1, { CrashLoop: 1 }]);
  });

  it('nothing while a trial goes on, and a fallback once for all of its way', () => {
    assert.equal(count(onTrial, { ...onTrial }), NO_COUNTS);
    assert.equal(count({ doing: fallingBack('failed') }, {}), NO_COUNTS);
  });
});

describe('the server', () => {
  const options = { host: '127.0.0.1', clock: systemClock, random: () => 0, log: silentLog };

  it('answers a scrape, and nothing else, until it is stopped', async () => {
    const stop = new AbortController();
    const text = (): string => 'a 1\n';
    const listening = Promise.withResolvers<number>();
    const serving = serveMetrics({ ...options, port: 0, text, onListening: listening.resolve }, stop.signal);
    const port = await listening.promise;
    const scrape = await fetch(`http://127.0.0.1:${port}/metrics`);
    assert.match(scrape.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.equal(await scrape.text(), 'a 1\n');
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status, 404);
    stop.abort();
    await serving;
    await assert.rejects(fetch(`http://127.0.0.1:${port}/metrics`));
  });

  it('waits for a port that something else has, and never ends the agent over it', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const stop = new AbortController();
    const listening = Promise.withResolvers<number>();
    const slept: number[] = [];
    const clock = {
      ...systemClock,
      async sleep(ms: number) {
        slept.push(ms);
        taken.close();
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
    const serving = serveMetrics(
      { ...options, clock, port, text: () => '', onListening: listening.resolve },
      stop.signal,
    );
    assert.equal(await listening.promise, port);
    assert.ok((slept[0] ?? 0) >= 1_000);
    stop.abort();
    await serving;
  });
});

it('promtool finds nothing wrong with the text', { skip: WITHOUT_PROMTOOL }, () => {
  const hostile = { ...ERROR, reason: 'Quote" back\\slash \n line' };
  const counts = { trials: { promoted: 3, failed: 1, superseded: 0 }, fallbacks: { CrashLoop: 1 } };
  const now = state({ assigned: B, lastKnownGood: A, doing: trialOf(B), error: hostile });
  const condition = { type: 'Guarded', status: 'True', reason: 'r', message: 'm', lastTransitionTime: '' } as const;
  const text = metricsText(
    familiesOf({ state: now, status: { phase: 'Trial', conditions: [condition] }, counts, version: '1' }),
  );
  const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.equal(status, 0, `${stderr}${stdout}\n${text}`);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSpec } from './support/read-spec.ts';

const read = (rest: string) => readSpec(`\n  nodeSelector: {}\n  ${rest.trim()}`);

describe('how a pool is rolled out', () => {
  it('is in the spec as it was written, with the defaults of what was begun', () => {
    const { spec, findings } = read(`
  rollout:
    maxUnavailablePerZone: 1
    notReadyNodes: change
    canary: {nodes: 1, soak: 1h, pause: true}
    steps: [{nodes: 10%}, {nodes: 50%, soak: 2h, pause: true}]
    windows:
      allow: [{cron: 0  2 * * 1-5, duration: 4h, timeZone: Europe/Berlin}]
    emergency: "CVE-2026-1234:\\n  do not wait"
    onFailure: {action: revert}
  suspend: true
  disruption:
    allow: [reboot, restart]
    reboot: {by: sentinel, timeout: 3h}
  blockers:
    prometheus: {url: "http://prometheus.monitoring:9090", alerts: [KubeAPIDown]}
    pods: {namespace: batch, selector: {matchLabels: {app: train}}}`);
    assert.deepEqual(findings, []);
    assert.deepEqual(spec.rollout, {
      maxUnavailable: 1,
      maxUnavailablePerZone: 1,
      notReadyNodes: 'change',
      soak: '0s',
      canary: { nodes: 1, soak: '1h', pause: true },
      steps: [{ nodes: '10%' }, { nodes: '50%', soak: '2h', pause: true }],
      windows: {
        allow: [{ cron: '0 2 * * 1-5', duration: '4h', timeZone: 'Europe/Berlin' }],
        deny: [],
        overrun: 'stop',
      },
      emergency: 'CVE-2026-1234: do not wait',
      onFailure: { threshold: 1, action: 'revert' },
    });
    assert.equal(spec.suspend, true);
    assert.deepEqual(spec.disruption, {
      allow: ['restart', 'reboot'],
      drainTimeout: '10m',
      reboot: { by: 'sentinel', timeout: '3h' },
    });
    assert.deepEqual(spec.blockers, {
      prometheus: { url: 'http://prometheus.monitoring:9090', alerts: ['KubeAPIDown'] },
      pods: { namespace: 'batch', selector: { matchLabels: { app: 'train' } } },
    });
  });

  it('asks nobody after all nodes: a pause there is an error', () => {
    const pauses = (rollout: string): readonly string[] =>
      read(`rollout: ${rollout}`).findings.map(({ code, field }) => `${code} ${field}`);
    assert.deepEqual(pauses('{canary: {nodes: 100%, pause: true}}'), ['conflict spec.rollout.canary.pause']);
    assert.deepEqual(pauses('{steps: [{nodes: 1, pause: true}, {nodes: 100%, pause: true}]}'), [
      'conflict spec.rollout.steps[1].pause',
    ]);
    assert.deepEqual(pauses('{canary: {nodes: 100%, pause: false}}'), []);
    assert.deepEqual(pauses('{canary: {nodes: 99%, pause: true}}'), []);
  });

  it('leaves out what is not written, so that no pool of an older release is written again', () => {
    const { spec } = read('priority: 1');
    const keys = ['nodeSelector', 'priority', 'layers', 'apply', 'rollout', 'trial', 'drift'];
    assert.deepEqual(Object.keys(spec), keys);
    assert.deepEqual(Object.keys(spec.rollout), ['maxUnavailable', 'soak', 'onFailure']);
    const nulls = read('rollout: {canary: null, steps: null, windows: null, emergency: null}\n  suspend: null');
    assert.deepEqual(nulls.findings, []);
    assert.deepEqual(nulls.spec, { ...spec, priority: 0 });
  });

  it('is as it was written where that is little', () => {
    const { spec, findings } = read(`
  rollout:
    notReadyNodes: wait
    canary: {selector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}}
    steps: [{nodes: 10%, soak: 0s}]
    windows: {deny: [{cron: 0 2 * * *, duration: 4h}], overrun: finish-wave}
  disruption: {drainTimeout: 5m}
  blockers:
    prometheus: {url: "http://prometheus.monitoring:9090", query: up}`);
    assert.deepEqual(findings, []);
    const selector = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] };
    assert.equal(spec.rollout.notReadyNodes, 'wait');
    assert.deepEqual(spec.rollout.canary, { selector });
    assert.deepEqual(spec.rollout.steps, [{ nodes: '10%', soak: '0s' }]);
    const deny = [{ cron: '0 2 * * *', duration: '4h' }];
    assert.deepEqual(spec.rollout.windows, { allow: [], deny, overrun: 'finish-wave' });
    assert.deepEqual(spec.disruption, { allow: ['restart'], drainTimeout: '5m' });
    assert.deepEqual(spec.blockers, { prometheus: { url: 'http://prometheus.monitoring:9090', query: 'up' } });
    const each = read('rollout: {canary: {nodes: 50%, perClass: true, soak: 1h}}').spec;
    assert.deepEqual(each.rollout.canary, { nodes: '50%', perClass: true, soak: '1h' });
    const others = read(
      'disruption: {reboot: {by: systemd}}\n  blockers: {pods: {selector: {matchLabels: {a: b}}}}',
    ).spec;
    assert.deepEqual(others.disruption?.reboot, { by: 'systemd', timeout: '1h' });
    assert.deepEqual(others.blockers, { pods: { selector: { matchLabels: { a: 'b' } } } });
  });

  it('compares canaries as it was written', () => {
    const { spec, findings } = read(`rollout:
    canary: {nodes: 1}
    analysis:
      measures: [evictions, cpu]
      thresholds: {cpu: {least: 0.5, percent: 100}, reserved: {least: 0}, relist: {}}
      timeout: 0s`);
    assert.deepEqual(findings, []);
    assert.deepEqual(spec.rollout.analysis, {
      measures: ['evictions', 'cpu'],
      thresholds: { cpu: { least: 0.5, percent: 100 }, relist: {}, reserved: { least: 0 } },
      timeout: '0s',
    });
    assert.deepEqual(read('rollout: {canary: {nodes: 1}, analysis: {}}').spec.rollout.analysis, { timeout: '30m' });
  });

  it('has its bound of nodes on trial, its probation and the trial after the canaries as they were written', () => {
    const { spec, findings } = read('rollout: {maxOnTrial: 5%, probation: 2m}\n  trial: {durationAfterCanary: 4m}');
    assert.deepEqual(findings, []);
    const { maxOnTrial, probation } = spec.rollout;
    assert.deepEqual([maxOnTrial, probation, spec.trial.durationAfterCanary], ['5%', '2m', '4m']);
    const full = read('rollout: {probation: full}');
    assert.deepEqual([full.spec.rollout.probation, full.findings], ['full', []]);
    assert.equal('durationAfterCanary' in read('priority: 1').spec.trial, false);
  });

  it('says where a window is wrong: file, line and column', () => {
    const [finding] = read(
      'rollout:\n    windows:\n      deny:\n        - cron: 0 25 * * *\n          duration: 1h',
    ).findings;
    assert.equal(`${finding?.file}:${finding?.line}:${finding?.column} ${finding?.code}`, 'pool.yaml:8:11 bad-cron');
    assert.equal(finding?.message, '"0 25 * * *": 25 is no hour (0 to 23)');
  });
});

describe('a pool is refused for', () => {
  it('a password in git without repeating it', () => {
    const { findings } = read('blockers: {prometheus: {url: "http://me:secret@p", query: up}}');
    assert.ok(findings.length > 0 && !JSON.stringify(findings).includes('secret'));
  });
});

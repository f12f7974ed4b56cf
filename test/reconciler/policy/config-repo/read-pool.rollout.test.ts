import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mistakesIn, readSpec } from './support/read-spec.ts';

const beside = (rest: string): string => `\n  nodeSelector: {}\n  ${rest.trim()}`;
const read = (rest: string) => readSpec(beside(rest));
const windows = (window: string): string => `rollout: {windows: {allow: [${window}]}}`;

describe('how a pool is rolled out', () => {
  it('is in the spec as it was written, with the defaults of what was begun', () => {
    const { spec, findings } = read(`
  rollout:
    maxUnavailablePerZone: 1
    notReadyNodes: change
    canary: {nodes: 1, soak: 1h}
    steps: [{nodes: 10%}, {nodes: 50%, soak: 2h}]
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
      canary: { nodes: 1, soak: '1h' },
      steps: [{ nodes: '10%' }, { nodes: '50%', soak: '2h' }],
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

const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'canaries by count and by selector',
    'rollout: {canary: {nodes: 1, selector: {matchLabels: {a: b}}}}',
    ['conflict spec.rollout.canary'],
  ],
  [
    'canaries of each class by selector',
    'rollout: {canary: {perClass: true, selector: {matchLabels: {a: b}}}}',
    ['conflict spec.rollout.canary'],
  ],
  [
    'canaries of each class that are not counted',
    'rollout: {canary: {perClass: true}}',
    ['missing-field spec.rollout.canary'],
  ],
  [
    'canaries of each class that are a word',
    'rollout: {canary: {nodes: 1, perClass: often}}',
    ['wrong-type spec.rollout.canary.perClass'],
  ],
  ['canaries that are not said', 'rollout: {canary: {soak: 1h}}', ['missing-field spec.rollout.canary']],
  [
    'a canary selector that means every node',
    'rollout: {canary: {selector: {}}}',
    ['missing-field spec.rollout.canary.selector'],
  ],
  ['an analysis of no canaries', 'rollout: {analysis: {}}', ['missing-field spec.rollout.analysis']],
  [
    'a measure that nobody knows',
    'rollout: {canary: {nodes: 1}, analysis: {measures: [cpus]}}',
    ['unknown-value spec.rollout.analysis.measures[0]'],
  ],
  [
    'a threshold of a measure that nobody knows',
    'rollout: {canary: {nodes: 1}, analysis: {thresholds: {cpus: {least: 1}}}}',
    ['unknown-field spec.rollout.analysis.thresholds.cpus'],
  ],
  [
    'thresholds that are no amounts',
    'rollout: {canary: {nodes: 1}, analysis: {thresholds: {cpu: {least: -1, percent: 1.5}}}}',
    [
      'out-of-range spec.rollout.analysis.thresholds.cpu.least',
      'out-of-range spec.rollout.analysis.thresholds.cpu.percent',
    ],
  ],
  [
    'a threshold in words',
    'rollout: {canary: {nodes: 1}, analysis: {thresholds: {cpu: {least: much}}}}',
    ['out-of-range spec.rollout.analysis.thresholds.cpu.least'],
  ],
  [
    'a threshold in quotes',
    'rollout: {canary: {nodes: 1}, analysis: {thresholds: {cpu: {least: "1"}}}}',
    ['out-of-range spec.rollout.analysis.thresholds.cpu.least'],
  ],
  [
    'a threshold that no number can hold',
    'rollout: {canary: {nodes: 1}, analysis: {thresholds: {cpu: {least: 1e999}}}}',
    ['out-of-range spec.rollout.analysis.thresholds.cpu.least'],
  ],
  [
    'an analysis that waits for nobody knows how long',
    'rollout: {canary: {nodes: 1}, analysis: {timeout: soon}}',
    ['bad-duration spec.rollout.analysis.timeout'],
  ],
  [
    'no measures at all',
    'rollout: {canary: {nodes: 1}, analysis: {measures: []}}',
    ['wrong-type spec.rollout.analysis.measures'],
  ],
  ['nobody on trial', 'rollout: {maxOnTrial: 0}', ['out-of-range spec.rollout.maxOnTrial']],
  ['a probation of no time', 'rollout: {probation: 0s}', ['bad-duration spec.rollout.probation']],
  ['a probation in another word', 'rollout: {probation: Full}', ['bad-duration spec.rollout.probation']],
  ['a probation that is no text', 'rollout: {probation: 60}', ['bad-duration spec.rollout.probation']],
  [
    'a bound that bounds nothing',
    'rollout: {maxOnTrial: 1, probation: full}',
    ['doubtful-value spec.rollout.maxOnTrial'],
  ],
  [
    'a trial of no time after the canaries',
    'trial: {durationAfterCanary: 0s}',
    ['bad-duration spec.trial.durationAfterCanary'],
  ],
  ['no canary at all', 'rollout: {canary: {nodes: 0}}', ['out-of-range spec.rollout.canary.nodes']],
  ['more canaries than nodes', 'rollout: {canary: {nodes: 101%}}', ['out-of-range spec.rollout.canary.nodes']],
  [
    'steps that do not ascend',
    'rollout: {steps: [{nodes: 10%}, {nodes: 10%}]}',
    ['out-of-range spec.rollout.steps[1].nodes'],
  ],
  [
    'a step below the canaries',
    'rollout: {canary: {nodes: 3}, steps: [{nodes: 2}]}',
    ['out-of-range spec.rollout.steps[0].nodes'],
  ],
  [
    'counts that do not ascend around percentages',
    'rollout: {steps: [{nodes: 5}, {nodes: 10%}, {nodes: 4}]}',
    ['out-of-range spec.rollout.steps[2].nodes'],
  ],
  [
    'a step that comes too late, after one that says nothing',
    'rollout: {steps: [{soak: 1h}, {nodes: 5}, {nodes: 3}]}',
    ['missing-field spec.rollout.steps[0]'],
  ],
  [
    'a step of none, once',
    'rollout: {steps: [{nodes: 5}, {nodes: 0, soak: long}, {nodes: 6}]}',
    ['bad-duration spec.rollout.steps[1].soak', 'out-of-range spec.rollout.steps[1].nodes'],
  ],
  ['a step without nodes', 'rollout: {steps: [{soak: 1h}]}', ['missing-field spec.rollout.steps[0]']],
  ['no steps', 'rollout: {steps: []}', ['wrong-type spec.rollout.steps']],
  [
    'an unknown key of a step',
    'rollout: {steps: [{nodes: 1, wait: 1h}]}',
    ['unknown-field spec.rollout.steps[0].wait'],
  ],
  [
    'a negative budget of a zone',
    'rollout: {maxUnavailablePerZone: -1}',
    ['out-of-range spec.rollout.maxUnavailablePerZone'],
  ],
  [
    'an action that is none',
    'rollout: {onFailure: {action: rollback}}',
    ['unknown-value spec.rollout.onFailure.action'],
  ],
  ['an emergency without a reason', 'rollout: {emergency: " "}', ['bad-text spec.rollout.emergency']],
  ['an emergency that is only true', 'rollout: {emergency: true}', ['bad-text spec.rollout.emergency']],
  ['a window without a duration', windows('{cron: 0 2 * * *}'), ['missing-field spec.rollout.windows.allow[0]']],
  [
    'a window that never begins',
    windows('{cron: 0 2 30 2 *, duration: 1h}'),
    ['bad-cron spec.rollout.windows.allow[0].cron'],
  ],
  [
    'a window of no length',
    windows('{cron: 0 2 * * *, duration: 0s}'),
    ['bad-duration spec.rollout.windows.allow[0].duration'],
  ],
  [
    'a time zone that is none',
    windows('{cron: 0 2 * * *, duration: 1h, timeZone: Berlin}'),
    ['bad-time-zone spec.rollout.windows.allow[0].timeZone'],
  ],
  [
    'a cron expression that YAML reads as a number',
    windows('{cron: 5, duration: 1h}'),
    ['bad-text spec.rollout.windows.allow[0].cron'],
  ],
  [
    'an end of a window that is none',
    'rollout: {windows: {overrun: go-on}}',
    ['unknown-value spec.rollout.windows.overrun'],
  ],
  ['a window that is no map', windows('5'), ['wrong-type spec.rollout.windows.allow[0]']],
  ['a window that is not there', windows('null'), ['wrong-type spec.rollout.windows.allow[0]']],
  ['a window without a beginning', windows('{duration: 1h}'), ['missing-field spec.rollout.windows.allow[0]']],
  [
    'a window that lasts a number',
    windows('{cron: 0 2 * * *, duration: 5}'),
    ['bad-text spec.rollout.windows.allow[0].duration'],
  ],
  ['a step that is not there', 'rollout: {steps: [null]}', ['wrong-type spec.rollout.steps[0]']],
  [
    'a step that soaks in words',
    'rollout: {steps: [{nodes: 1, soak: long}]}',
    ['bad-duration spec.rollout.steps[0].soak'],
  ],
  [
    'canaries that soak in words',
    'rollout: {canary: {nodes: 1, soak: long}}',
    ['bad-duration spec.rollout.canary.soak'],
  ],
  [
    'an unknown word for failures',
    'rollout: {onFailure: {treshold: 1}}',
    ['unknown-field spec.rollout.onFailure.treshold'],
  ],
  [
    'no word for nodes that are not Ready',
    'rollout: {notReadyNodes: skip}',
    ['unknown-value spec.rollout.notReadyNodes'],
  ],
  [
    'a class of disruption that is not there',
    'disruption: {allow: [restart, null]}',
    ['unknown-value spec.disruption.allow[1]'],
  ],
  ['reboots by nobody', 'disruption: {reboot: {timeout: 1h}}', ['missing-field spec.disruption.reboot']],
  [
    'an alert that is a number',
    'blockers: {prometheus: {url: "http://p", alerts: [5]}}',
    ['bad-text spec.blockers.prometheus.alerts[0]'],
  ],
  ['a suspension in words', 'suspend: "yes"', ['wrong-type spec.suspend']],
  ['disruption without a restart', 'disruption: {allow: [drain]}', ['missing-partner spec.disruption.allow']],
  [
    'a class of disruption that is none',
    'disruption: {allow: [restart, evict]}',
    ['unknown-value spec.disruption.allow[1]'],
  ],
  ['reboots that nobody does', 'disruption: {allow: [restart, reboot]}', ['missing-partner spec.disruption.reboot']],
  [
    'reboots by nobody that there is',
    'disruption: {reboot: {by: magic, timeout: 0s}}',
    ['unknown-value spec.disruption.reboot.by', 'bad-duration spec.disruption.reboot.timeout'],
  ],
  ['a drain that may take no time', 'disruption: {drainTimeout: 0s}', ['bad-duration spec.disruption.drainTimeout']],
  ['blockers that block nothing', 'blockers: {}', ['missing-field spec.blockers']],
  [
    'a Prometheus that is asked nothing',
    'blockers: {prometheus: {url: "http://p:9090"}}',
    ['missing-field spec.blockers.prometheus'],
  ],
  [
    'a Prometheus that is asked both ways',
    'blockers: {prometheus: {url: "http://p:9090", query: up, alerts: [A]}}',
    ['conflict spec.blockers.prometheus'],
  ],
  ['a Prometheus nowhere', 'blockers: {prometheus: {query: up}}', ['missing-field spec.blockers.prometheus.url']],
  [
    'a Prometheus that is no web address',
    'blockers: {prometheus: {url: "p:9090", query: up}}',
    ['bad-url spec.blockers.prometheus.url'],
  ],
  [
    'a password in git',
    'blockers: {prometheus: {url: "http://me:secret@p", query: up}}',
    ['bad-url spec.blockers.prometheus.url'],
  ],
  [
    'an alert with quotes in its name',
    'blockers: {prometheus: {url: "http://p", alerts: [\'a"b\']}}',
    ['bad-text spec.blockers.prometheus.alerts[0]'],
  ],
  [
    'an alert twice',
    'blockers: {prometheus: {url: "http://p", alerts: [A, A]}}',
    ['duplicate-item spec.blockers.prometheus.alerts[1]'],
  ],
  ['pods of every kind', 'blockers: {pods: {selector: {}}}', ['missing-field spec.blockers.pods.selector']],
  ['pods without a selector', 'blockers: {pods: {namespace: a}}', ['missing-field spec.blockers.pods']],
  [
    'a namespace that is none',
    'blockers: {pods: {namespace: A, selector: {matchLabels: {a: b}}}}',
    ['bad-label spec.blockers.pods.namespace'],
  ],
];

describe('a pool is refused for', () => {
  for (const [name, spec, findings] of rows)
    it(name, () => assert.deepEqual(mistakesIn(beside(spec)).toSorted(), findings.toSorted()));

  it('a password in git without repeating it', () => {
    const { findings } = read('blockers: {prometheus: {url: "http://me:secret@p", query: up}}');
    assert.ok(findings.length > 0 && !JSON.stringify(findings).includes('secret'));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeReportOf, statusOf } from '#agent/report/kubelet-node-status.ts';
import type { StatusFacts } from '#agent/report/status-facts.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Config, State } from '#agent/decide/state.ts';
import {
  A,
  AT,
  B,
  broken,
  DOWN,
  ERROR_B,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  rejecting,
  seen,
} from '../../support/agent/states.ts';

const tell = (state: State, parts: Partial<Observation> = {}, about: Partial<StatusFacts> = {}): StatusFacts => ({
  state,
  seen: seen(parts),
  actions: [],
  agentVersion: '1.2.3',
  fault: null,
  diskProblems: [],
  ...about,
});
const status = (...args: Parameters<typeof tell>): KubeletNodeStatus => statusOf(nodeReportOf(tell(...args)), {});
const conditionOf = ({ conditions }: KubeletNodeStatus, type: string): string => {
  const found = conditions?.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};
const healthy = (...args: Parameters<typeof tell>): string => conditionOf(status(...args), 'KubeletConfigHealthy');

describe('the status of a node whose settings do not fit', () => {
  const why = "this node's kubelet runs in k3s.service";

  it('is not Ready before anything is assigned, with the reason as its error', () => {
    const told = status(idle(null), { guard: { guard: 'none', why, isUnfit: true } });
    assert.equal(conditionOf(told, 'Ready'), `False CannotInstall: ${why}`);
    assert.equal(conditionOf(told, 'Stalled'), `True CannotInstall: ${why}`);
    assert.deepEqual([told.error?.reason, told.error?.message], ['CannotInstall', why]);
  });

  it('is Ready where a guard is only not wanted', () => {
    const told = status(idle(null), { guard: { guard: 'none', why: 'GUARD=off is set' } });
    assert.match(conditionOf(told, 'Ready'), /^True/);
    assert.equal(told.error, undefined);
  });
});

describe('the status of a node that needs a restart', () => {
  const NEW = 'b'.repeat(64);
  const newBase: Partial<Observation> = { base: { under: null, newer: { sha256: NEW, changes: true } } };
  const wants: Partial<Observation> = { intent: { intent: 'config', config: A } };

  it('asks for a turn, and says that it goes on by itself', () => {
    const told = status(idle(A), { ...wants, ...newBase });
    assert.deepEqual([told.phase, told.awaitsTurn?.reason, told.awaitsTurn?.base], ['Drifted', 'NewBase', NEW]);
    assert.match(conditionOf(told, 'Reconciling'), /^True Drifted: the node's own kubelet config was changed/);
    assert.match(conditionOf(told, 'Stalled'), /^False/);
  });

  it('says what it refused, and that somebody has to do something', () => {
    const refusedBase = { sha256: NEW, message: 'it failed', at: AT };
    const told = status({ ...idle(A), refusedBase }, { ...wants, ...newBase });
    assert.deepEqual([told.phase, told.awaitsTurn, told.refusedBase], ['Drifted', undefined, refusedBase]);
    assert.equal(conditionOf(told, 'Stalled'), 'True Drifted: it failed');
  });

  it('is no longer than the API server takes, whatever a kubelet says', () => {
    const why = 'no '.repeat(10_000);
    const told = status(idle(A), { ...wants, startedAsInstalled: false, running: { running: 'unseen', why } });
    assert.equal(told.awaitsTurn?.message.length, 4096);
  });
});

describe('the status of a node whose running config nobody sees', () => {
  for (const [sight, is, reason] of [
    ['forbidden', 'False', 'Forbidden'],
    ['untrusted', 'False', 'Untrusted'],
    ['off', 'False', 'SwitchedOff'],
    ['not-yet', 'Unknown', 'NotYet'],
    ['unreachable', 'Unknown', 'Unreachable'],
  ] as const) {
    it(`says so, and claims nothing: ${sight}`, () => {
      const told = status(idle(A), { sight: { sight, why: 'that is why' }, running: { running: 'unseen', why: 'so' } });
      assert.equal(conditionOf(told, 'RunningConfigSeen'), `${is} ${reason}: that is why`);
      const claim = 'it was started with general-aaaaaaaaaa; what it runs was not seen: that is why';
      assert.equal(conditionOf(told, 'KubeletConfigHealthy'), `True Healthy: ${claim}`);
      assert.equal(conditionOf(told, 'Ready'), `True Healthy: ${claim}`);
    });
  }
});

describe('the status of a node with an assignment that is not taken up', () => {
  const wants = (config: Config): Partial<Observation> => ({ intent: { intent: 'config', config } });
  const unsaved = { reason: 'CheckpointFailed', message: 'the disk refuses' } as const;

  it('is an error where the disk refuses, and stands still unless that may pass', () => {
    const told = status(idle(A), wants(B), { unsaved });
    assert.deepEqual([told.error?.reason, told.error?.config], ['CheckpointFailed', B.source.name]);
    assert.equal(conditionOf(told, 'Ready'), 'False CheckpointFailed: the disk refuses');
    assert.match(conditionOf(told, 'Stalled'), /^True/);
    const passing = status(idle(A), wants(B), { unsaved: { ...unsaved, mayPass: true } });
    assert.equal(conditionOf(passing, 'Reconciling'), 'True CheckpointFailed: the disk refuses');
    assert.match(conditionOf(passing, 'Stalled'), /^False/);
  });

  it('does not hide why a config before it failed while that is taken back', () => {
    assert.equal(status(fallingBack(A, judging()), wants(B), { unsaved }).error?.reason, ERROR_B.reason);
  });

  it('is not Ready, whatever keeps it from being taken up', () => {
    const told = status(idle(A), wants(B));
    assert.equal(
      conditionOf(told, 'Ready'),
      `False NotTakenUp: ${B.source.name} is not taken up yet; ${A.source.name} runs`,
    );
    assert.match(conditionOf(told, 'Reconciling'), /^True/);
    assert.match(conditionOf(status(idle(A), { intent: { intent: 'local' } }), 'Ready'), /^False NotTakenUp/);
    assert.match(conditionOf(status(idle(A), wants(A)), 'Ready'), /^True/);
  });

  it('waits for its turn where its agent lost its state', () => {
    const told = status(idle(null), { intent: { intent: 'config', config: B, isSpent: true } });
    assert.match(conditionOf(told, 'Ready'), /^False AwaitsTurn: the agent lost its state/);
  });

  it('tells of no Staging again while it is tried once more', () => {
    const failure = { reason: 'CheckpointFailed', message: 'the disk refuses' } as const;
    const stage = [{ do: 'stage', config: B }] as const;
    assert.equal(status(idle(A), wants(B), { actions: stage }).phase, 'Staging');
    const staged = { config: B, outcome: 'unavailable', failure, retryInMs: 0 } as const;
    const again = status(idle(A), { ...wants(B), staged }, { actions: stage });
    assert.equal(again.phase, 'Idle');
    assert.match(conditionOf(again, 'CheckpointsIntact'), /^False/);
  });
});

describe('the status of a node', () => {
  it('speaks of the same assignment as before while none was heard of: an agent that starts makes nobody wait', () => {
    const { observedGeneration } = statusOf(nodeReportOf(tell(idle(A), { generation: undefined })), {
      observedGeneration: 7,
    });
    assert.equal(observedGeneration, 7);
  });

  it('that is well', () => {
    const reference = {
      name: A.source.name,
      sha256: A.source.sha256,
      apply: 'overlay',
      uid: 'uid-a',
      resourceVersion: '41',
    };
    assert.deepEqual(status(idle(A)), {
      observedGeneration: 1,
      phase: 'Idle',
      assigned: reference,
      active: reference,
      lastKnownGood: reference,
      promotedAt: AT,
      preflight: { outcome: 'ready' },
      kubeletVersion: 'v1.34.2',
      bootID: 'boot-1',
      agentVersion: '1.2.3',
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Healthy', message: 'it runs general-aaaaaaaaaa' },
        { type: 'Reconciling', status: 'False', reason: 'Healthy', message: '' },
        { type: 'Stalled', status: 'False', reason: 'Healthy', message: '' },
        {
          type: 'KubeletConfigHealthy',
          status: 'True',
          reason: 'Healthy',
          message: 'it runs general-aaaaaaaaaa',
        },
        { type: 'CheckpointsIntact', status: 'True', reason: 'Intact', message: 'the state directory is in order' },
        { type: 'Guarded', status: 'False', reason: 'NoGuard', message: 'there is none here' },
        { type: 'RunningConfigSeen', status: 'True', reason: 'Seen', message: 'the kubelet says what it runs' },
      ].map((condition) => ({ ...condition, lastTransitionTime: AT, observedGeneration: 1 })),
    });
  });

  it('that runs local', () => {
    const { assigned, active, lastKnownGood, promotedAt } = status(idle(null));
    assert.deepEqual(
      [assigned, active, lastKnownGood, promotedAt],
      [{ name: 'local' }, { name: 'local' }, { name: 'local' }, undefined],
    );
  });

  const phases: readonly (readonly [string, Parameters<typeof tell>, string])[] = [
    ['is Idle', [idle(A)], 'Idle'],
    ['is Idle with the error of what it took back', [rejecting(A)], 'Idle'],
    ['is Staging while it fetches', [idle(A), {}, { actions: [{ do: 'stage', config: B }] }], 'Staging'],
    [
      'is on Trial, whatever else it fetches',
      [onTrial(judging()), {}, { actions: [{ do: 'stage', config: A }] }],
      'Trial',
    ],
    ['is FallingBack', [fallingBack(A, INSTALLING)], 'FallingBack'],
    ['is Broken', [broken()], 'Broken'],
    ['is Drifted where the files are not what they should be', [idle(A), { files: { files: 'differ' } }], 'Drifted'],
    [
      'is Drifted where the kubelet runs something else',
      [idle(A), { running: { running: 'contradicts', differences: ['maxPods=1 instead of 2'] } }],
      'Drifted',
    ],
    [
      'is not Drifted for what cannot be read',
      [idle(A), { running: { running: 'unseen', why: 'forbidden' }, files: { files: 'lost', message: 'gone' } }],
      'Idle',
    ],
  ];
  for (const [title, args, phase] of phases) {
    it(title, () => {
      assert.equal(status(...args).phase, phase);
    });
  }

  it('names what it took back and why', () => {
    const { error, rejected, assigned, active } = status(rejecting(A));
    assert.deepEqual(error, ERROR_B);
    assert.deepEqual(
      rejected?.map(({ name }) => name),
      [B.source.name],
    );
    assert.deepEqual([assigned?.name, active?.name], [B.source.name, A.source.name]);
  });

  it('tells the progress of a trial in steps that do not flood the API server', () => {
    const progress = (healthyMs: number): number | undefined =>
      status(onTrial(judging({ healthyMs }))).trial?.healthySeconds;
    assert.deepEqual([0, 29_999, 30_000, 59_999, 599_000].map(progress), [0, 0, 30, 30, 570]);
    const trial = status(onTrial(judging({ restarts: 1 }))).trial;
    assert.deepEqual(trial, { config: B.source.name, since: AT, healthySeconds: 0, durationSeconds: 600, restarts: 1 });
  });

  it('tells of no healthy time while the kubelet is not in order, and of all of it afterwards', () => {
    const progress = (unhealthyMs: number): number | undefined =>
      status(onTrial(judging({ healthyMs: 90_000, unhealthyMs }))).trial?.healthySeconds;
    assert.deepEqual([0, 9_999, 10_000, 60_000].map(progress), [90, 90, 0, 0]);
  });

  it('has one of these steps end with a third of the trial, which is the usual probation', () => {
    const progress = (durationMs: number, healthyMs: number): number | undefined => {
      const config = { ...B, trial: { ...B.trial, durationMs } };
      return status(onTrial(judging({ healthyMs })), { intent: { intent: 'config', config } }).trial?.healthySeconds;
    };
    assert.deepEqual(
      [49_999, 50_000, 62_499, 62_500].map((healthyMs) => progress(150_000, healthyMs)),
      [37, 50, 50, 62],
    );
    assert.deepEqual([progress(90_000, 30_000), progress(360_000, 120_000), progress(5_000, 1_700)], [30, 120, 1]);
  });

  it('says what cannot be carried out, while that matters', () => {
    const fault = { reason: 'RestartFailed', message: 'the bus is away' } as const;
    assert.deepEqual(status(onTrial(INSTALLING), {}, { fault }).error, { ...fault, at: AT, config: B.source.name });
    assert.equal(status(idle(A), {}, { fault }).error, undefined);
  });
});

describe('the conditions', () => {
  it('say whether the kubelet does well with its config', () => {
    assert.match(healthy(idle(A), DOWN), /^False NotHealthy: the kubelet is not healthy: .*nobody listens/);
    assert.match(healthy(idle(A), { files: { files: 'differ' } }), /^False Drifted/);
    assert.match(
      healthy(idle(A), { files: { files: 'differ', path: '/etc/kubelet.yaml' } }),
      /^False Drifted: \/etc\/kubelet\.yaml on the node is not what was installed$/,
    );
    assert.match(healthy(onTrial(judging())), /^Unknown OnTrial: general-bbbbbbbbbb has yet to prove itself$/);
    assert.match(healthy(onTrial(judging()), DOWN), /^Unknown OnTrial: .*; the kubelet is not healthy: /);
    assert.match(healthy(fallingBack(null, INSTALLING)), /^Unknown FallingBack: local has yet/);
    assert.match(healthy(broken(), DOWN), /^False Broken: B failed$/);
    assert.match(
      healthy(idle(A), {
        health: { health: 'off' },
        service: { state: 'unknown', run: null, automaticRestarts: null },
      }),
      /^Unknown NotSeen/,
    );
  });

  it('say whether the agent could start again', () => {
    const problems = { diskProblems: ['meta/trial is unusable', 'the disk is full'] };
    assert.equal(
      conditionOf(status(idle(A), {}, problems), 'CheckpointsIntact'),
      'False Damaged: meta/trial is unusable; the disk is full',
    );
  });

  it('keep the time since when they hold', () => {
    const before = statusOf(nodeReportOf(tell(idle(A))), {});
    const later = statusOf(nodeReportOf(tell(idle(B), { at: '2027-01-01T00:00:00Z' })), before);
    assert.deepEqual(
      later.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
      [AT, AT, AT, AT, AT, AT, AT],
    );
    const down = statusOf(nodeReportOf(tell(idle(B), { ...DOWN, at: '2027-01-01T00:00:00Z' })), before);
    assert.deepEqual(
      down.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
      ['2027-01-01T00:00:00Z', AT, AT, '2027-01-01T00:00:00Z', AT, AT, AT],
    );
  });
});

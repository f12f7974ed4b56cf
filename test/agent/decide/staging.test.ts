import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Staged } from '#agent/decide/observation.ts';
import { rejectionOf, type Trial, withoutRejected } from '#agent/decide/state.ts';
import { ready, refused, unavailable, failedDownload, lost, table } from '../../support/agent/decision-table.ts';
import { A, B, C, idle, judging, onTrial, rejecting, seen, wanting } from '../../support/agent/states.ts';

table('staging', {
  'a new assignment is fetched before anything else': [idle(A), seen(wanting(B)), 'idle: A → stage B'],
  'the same payload applied in another way is another config': [
    idle(A),
    seen(wanting({ ...A, apply: 'replace' })),
    'idle: A → stage A',
  ],
  'what is ready goes on trial': [
    idle(A),
    seen(wanting(B), { staged: ready }),
    'trial (install): B, good A → install B',
  ],
  'what is refused leaves the kubelet alone': [
    idle(A),
    seen(wanting(B), { staged: refused }),
    'idle: B, active A, ConfigInvalid',
  ],
  'what cannot be had is waited for': [
    idle(A),
    seen(wanting(B), { staged: unavailable(2000) }),
    'idle: A, DownloadFailed',
  ],
  'and is tried again when its time has come': [
    idle(A),
    seen(wanting(B), { staged: unavailable(0) }),
    'idle: A, DownloadFailed → stage B',
  ],
  'an error goes when the assignment that it was about does': [
    { ...idle(A), error: failedDownload },
    seen(wanting(A)),
    'idle: A',
  ],
  'and when the node is unassigned before it had anything': [
    { ...idle(null), error: failedDownload },
    seen(wanting(null)),
    'idle: local',
  ],
  'a rejected config that is assigned again after another is tried again': [
    { ...rejecting(A), assigned: A, error: null },
    seen(wanting(B)),
    'idle: A → stage B',
  ],
  'another than the rejected one is tried': [rejecting(A), seen(wanting(C)), 'idle: B, active A, CrashLoop → stage C'],
  'a revert to what runs clears the error and restarts nothing': [rejecting(A), seen(wanting(A)), 'idle: A'],
  'the rejected payload applied in another way is another config': [
    rejecting(A),
    seen(wanting({ ...B, apply: 'replace' })),
    'idle: B, active A, CrashLoop → stage B',
  ],
  'the lost checkpoint of a running config is fetched again, and the kubelet left alone': [
    idle(A),
    seen(wanting(A), lost),
    'idle: A → stage A',
  ],
});

table('the lost checkpoint of what runs', {
  'is not asked for again where it was refused': [
    idle(A),
    seen(wanting(A), lost, { staged: { ...refused, config: A } }),
    'idle: A',
  ],
  'is not asked for again before its time': [
    idle(A),
    seen(wanting(A), lost, { staged: { ...unavailable(1), config: A } }),
    'idle: A',
  ],
  'is asked for again in its time': [
    idle(A),
    seen(wanting(A), lost, { staged: { ...unavailable(0), config: A } }),
    'idle: A → stage A',
  ],
  'is asked for again where it was lost once more after it had come': [
    idle(A),
    seen(wanting(A), lost, { staged: { ...ready, config: A } }),
    'idle: A → stage A',
  ],
});

describe('a checkpoint that comes back from a ConfigMap made again', () => {
  const moved = (config: typeof A): typeof A => ({ ...config, source: { ...config.source, uid: 'another' } });
  const back = (config: typeof A): Staged => ({ config: moved(config), outcome: 'ready', warnings: [] });

  it('is known by where it is now, and not fetched twice', () => {
    const { next, actions } = decide(idle(A), seen(wanting(moved(A)), lost, { staged: back(A) }));
    assert.deepEqual([next.assigned, next.lastKnownGood], [moved(A), moved(A)]);
    assert.deepEqual(actions, []);
  });

  it('is laid over the same config of the node’s own as before', () => {
    const base = '1'.repeat(64);
    const { next } = decide(idle({ ...A, base }), seen(wanting(moved(A)), lost, { staged: back(A) }));
    assert.deepEqual(
      [next.assigned, next.lastKnownGood],
      [
        { ...moved(A), base },
        { ...moved(A), base },
      ],
    );
  });

  it('is fetched from where it is now', () => {
    assert.deepEqual(decide(idle(A), seen(wanting(moved(A)), lost)).actions, [{ do: 'stage', config: moved(A) }]);
  });

  it('is known so on trial too, and what was good before stays where it is', () => {
    const { next } = decide(onTrial(judging()), seen(wanting(moved(B)), lost, { staged: back(B) }));
    assert.deepEqual([(next.doing as Trial).config, next.lastKnownGood], [moved(B), A]);
  });
});

describe('the list of rejected configs', () => {
  const state = rejecting(A);

  it('loses the one that is tried again, and no other', () => {
    const both = { ...state, rejected: [...state.rejected, { ...state.rejected[0], sha256: C.source.sha256 }] };
    const left = withoutRejected(both as typeof state, B);
    assert.equal(rejectionOf(left, B), undefined);
    assert.ok(rejectionOf(left, C));
  });

  it('has nothing of the same payload in another way', () => {
    assert.equal(rejectionOf(state, { ...B, apply: 'replace' }), undefined);
  });

  it('is the same where there is nothing to lose', () => {
    assert.equal(withoutRejected(state, C), state);
  });
});

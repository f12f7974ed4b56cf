import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode, KubeletNodeSpec, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { Version } from './support/etcd-history.ts';
import { checkMoves, unorderedStarts } from './support/check-moves.ts';

let revision = 0;
function version(name: string, told: string | null, status: KubeletNodeStatus, spec: KubeletNodeSpec = {}) {
  const source = { namespace: 'n', uid: 'u', resourceVersion: '1', key: 'kubelet', sha256: 's' };
  const object: KubeletNode = {
    metadata: { name },
    spec: { pool: 'p', ...spec, ...(told === null ? {} : { configSource: { ...source, name: told } }) },
    status,
  };
  return { name, object, revision: (revision += 1) } satisfies Version<KubeletNode>;
}

const runs = (good: string, more: KubeletNodeStatus = {}): KubeletNodeStatus => ({
  phase: 'Idle',
  lastKnownGood: { name: good },
  ...more,
});
const proved = (...names: string[]) => names.map((name) => version(name, 'x', runs('x')));
const asks = { awaitsTurn: { reason: 'NewBase', seen: 's1', message: 'm' } } as const;
const granted = (name: string) => version(name, 'x', runs('x', asks), { turn: { seen: 's1' } });

describe('the judge of a world that moves', () => {
  it('finds nothing wrong with turns one after the other, nor with a machine that leaves', () => {
    const moves = checkMoves(
      [
        ...proved('a', 'b'),
        granted('a'),
        version('a', 'x', runs('x', { phase: 'Trial' }), { turn: { seen: 's1' } }),
        version('a', 'x', runs('x'), { turn: { seen: 's1' } }),
        granted('b'),
        { name: 'b', object: null, revision: 99 },
      ],
      1,
    );
    assert.deepEqual([moves.wrongs, moves.mostAtOnce], [[], 1]);
    assert.deepEqual(
      [...moves.turns],
      [
        ['a', 2],
        ['b', 2],
      ],
    );
    assert.deepEqual(
      unorderedStarts(
        moves,
        new Map([
          ['a', 2],
          ['b', 2],
        ]),
      ),
      [],
    );
  });

  it('finds too many turns at once', () => {
    const { wrongs } = checkMoves([...proved('a', 'b'), granted('a'), granted('b')], 1);
    assert.match(wrongs[0] ?? '', /^2 nodes of p are in a change, 1 may be: b at/);
  });

  it('counts no machine that has proven nothing yet', () => {
    const joining = version('c', 'x', runs('local', { phase: 'Trial' }));
    assert.deepEqual(checkMoves([...proved('a'), granted('a'), joining], 1).wrongs, []);
  });

  it('finds a node that lost its config, and a write for nothing', () => {
    const [first] = proved('a');
    const amended = version('a', 'x', runs('x'), { commit: 'c' });
    const { wrongs } = checkMoves([...(first ? [first] : []), amended, version('a', null, runs('x'))], 1);
    assert.match(wrongs.join('\n'), /was written for nothing[^]*lost its config/);
  });

  it('finds a restart without a turn, and allows the one that takes a config back', () => {
    const rejected = [
      { name: 'y', sha256: 's', apply: 'overlay', reason: 'CrashLoop', message: 'm', at: 't' },
    ] as const;
    const moves = checkMoves(
      [...proved('a'), version('a', 'y', runs('x')), version('a', 'y', runs('x', { rejected }))],
      1,
    );
    assert.deepEqual(unorderedStarts(moves, new Map([['a', 3]])), []);
    assert.match(unorderedStarts(moves, new Map([['a', 4]]))[0] ?? '', /restarted 4 times, and had 3 turns/);
  });
});

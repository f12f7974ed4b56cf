import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Files } from '#agent/decide/observation.ts';
import { table } from '../../support/agent/decision-table.ts';
import { A, idle, seen, wanting } from '../../support/agent/states.ts';

const ours: { readonly files: Files } = { files: { files: 'differ', path: '/x', areOurs: true } };
const theirs: { readonly files: Files } = { files: { files: 'differ', path: '/x' } };

table('a node that has files of ours without knowing of any', {
  'goes to local where it was told so': [
    idle(null),
    seen(wanting(null), ours),
    'falling-back (install): local → install local',
  ],
  'leaves them where nothing was said yet': [idle(null), seen({ intent: { intent: 'unknown' } }, ours), 'idle: local'],
  'leaves alone what is not ours': [idle(null), seen(wanting(null), theirs), 'idle: local'],
});

describe('an error of a config that waits for its turn', () => {
  const lost = { ...idle(null), assigned: null, error: { reason: 'CannotInstall', message: 'm', at: 'T', config: '' } };
  const waits = seen(
    { intent: { intent: 'config', config: A, isSpent: true } },
    { staged: { config: A, outcome: 'ready', warnings: [] } },
  );

  it('is over with what was in its way', () => {
    const of = (config: string) => decide({ ...lost, error: { ...lost.error, config } }, waits).next;
    assert.equal(of(A.source.name).error, null);
    assert.equal(of('another').error?.config, 'another');
    assert.equal(of(A.source.name).doing.phase, 'idle');
  });
});

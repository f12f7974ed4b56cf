import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { createChangeLogger } from '#reconciler/reporting/change-logger.ts';
import type { Log } from '#shared/runtime/log.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { commit, COMMIT_A, COMMIT_B, fleetOf, invalidPool } from '../../support/fleet.ts';

function listening() {
  const said: string[] = [];
  const say = (fields: object, message: string): void => void said.push(`${message} ${JSON.stringify(fields)}`);
  return { said, log: { ...silentLog, warn: say, info: say } as Log };
}

describe('what the log says of pools', () => {
  it('is each change of their phase, and that of a pool that came back again', () => {
    const { said, log } = listening();
    const { phases } = createChangeLogger(log);
    const settled = new Map([['gpu', { phase: 'Settled' as const }]]);
    for (const pools of [settled, settled, new Map(), settled]) phases(pools);
    assert.equal(said.length, 2);
    assert.match(said[1] ?? '', /^pool phase changed .*"pool":"gpu","to":"Settled"/);
  });
});

describe('what the log says of findings', () => {
  it('is each once, and again with another commit', () => {
    const { said, log } = listening();
    const sayings = createChangeLogger(log);
    const desired = desiredState(commit(COMMIT_A, invalidPool('gpu')), fleetOf({}), () => []);
    sayings.findings(desired);
    sayings.findings(desired);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /^finding in the commit .*unknown-field/);
    sayings.findings(desiredState(commit(COMMIT_B, invalidPool('gpu')), fleetOf({}), () => []));
    assert.equal(said.length, 2);
  });

  it('comes to an end, however many there are', () => {
    const { said, log } = listening();
    const [finding] = invalidPool('gpu').findings;
    assert.ok(finding !== undefined);
    const findings = Array.from({ length: 5_000 }, (_, n) => ({ ...finding, file: `pools/gpu/link-${n}` }));
    const many = { ...invalidPool('gpu'), findings };
    createChangeLogger(log).findings(desiredState(commit(COMMIT_A, many), fleetOf({}), () => []));
    assert.equal(said.length, 101);
    assert.match(said.at(-1) ?? '', /^more findings in the commit, which kubelet-gitops validate lists .*"left":4900/);
  });
});

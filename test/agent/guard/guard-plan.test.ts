import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decodePlan, encodePlan } from '#agent/guard/guard-plan.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createGuardedHost, OLD, NEW, UNIT } from './support/guarded-host.ts';
import { SHELLS } from './support/shells.ts';

const [shell = assert.fail('there is no shell')] = SHELLS;

const ORDER = { trial: 't', to: 'before', maxStarts: 0, silenceSeconds: 600, restore: [] };
const encode = (unit: string): string => encodePlan(ORDER, { unit, dropIn: '/d' });

describe('the unit of a plan', () => {
  for (const unit of [
    UNIT,
    'kubelet@a.service',
    'snap.kubelet-eks.daemon.service',
    '-H evil',
    '-H',
    'a b',
    'a;b',
    '',
  ]) {
    it(
      `${JSON.stringify(unit)} is one for the agent where it is one for the script`,
      { skip: shell.skip },
      async () => {
        const host = createGuardedHost(shell, { maxStarts: 0 });
        try {
          const plan = readFileSync(join(host.guard, 'plan'), 'utf8').replace(`unit ${UNIT}`, `unit ${unit}`);
          host.write('plan', plan);
          await host.run('start');
          const acts = host.read(host.config) === OLD;
          assert.equal(acts || host.read(host.config) === NEW, true);
          assert.equal(decodePlan(Buffer.from(plan)) !== undefined, acts);
          if (acts) assert.equal(decodePlan(Buffer.from(encode(unit)))?.unit, unit);
          else
            assert.throws(
              () => encode(unit),
              (error) => codeOf(error) === 'GUARD_ORDER',
            );
        } finally {
          host.remove();
        }
      },
    );
  }
});

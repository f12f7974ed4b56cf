import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { readGuardNote } from '#agent/guard/guard-records.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { BOOT, createGuardedHost, type GuardedHost, NEW, OLD, type PlanOptions } from './guarded-host.ts';
import { type Shell, SHELLS } from './shells.ts';

/** Where the host has come to. */
export const stateOf = (host: GuardedHost) => ({
  config: host.read(host.config) === OLD ? 'old' : host.read(host.config) === NEW ? 'new' : 'broken',
  plan: existsSync(join(host.guard, 'plan'))
    ? 'waiting'
    : existsSync(join(host.guard, 'fired'))
      ? 'carried out'
      : 'none',
});

export const UNTOUCHED = { config: 'new', plan: 'waiting' };
export const RESTORED = { config: 'old', plan: 'carried out' };

export const noteOf = (host: GuardedHost) => readGuardNote(readFileSync(join(host.guard, 'note')));

export const ORDERED = ['systemctl reset-failed kubelet.service', 'systemctl --no-block restart kubelet.service'];

export interface Row {
  readonly when: string;
  readonly plan?: PlanOptions;
  readonly story: (host: GuardedHost, shell: Shell) => Promise<void>;
}

export const start = async (host: GuardedHost, shell: Shell, times = 1): Promise<void> => {
  for (let time = 0; time < times; time += 1) assert.equal((await host.run(shell, 'start')).status, 0);
};
export const tick = async (host: GuardedHost, shell: Shell): Promise<void> =>
  assert.equal((await host.run(shell, 'tick')).status, 0);
export const alive = (host: GuardedHost, uptime: number, boot = BOOT): void =>
  host.write('alive', `${boot} ${uptime}\n`);

/** As the agent ends a plan. */
export const limits = (host: GuardedHost, ...lines: readonly string[]): void => {
  const plan = (host.read(join(host.guard, 'plan')) ?? '').replace(/(?:limit .*\n)*end\n$/, '');
  host.write('plan', `${plan}${lines.map((line) => `limit ${line}\n`).join('')}end\n`);
};
export const lifted = (host: GuardedHost): readonly string[] =>
  host.calls().filter((call) => call.includes('set-property'));

/** Tells each story on a host of its own, under each shell. */
export function underEachShell(rows: readonly Row[], shells = SHELLS): void {
  for (const shell of shells) {
    describeOrSkip(`the guard under ${shell.name}`, { skip: shell.skip }, () => {
      for (const { when, plan, story } of rows) {
        it(when, async () => {
          const host = createGuardedHost(plan);
          try {
            await story(host, shell);
          } finally {
            host.remove();
          }
        });
      }
    });
  }
}

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { readGuardNote } from '#agent/guard/guard-records.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { BOOT, createGuardedHost, type GuardedHost, NEW, OLD } from './guarded-host.ts';
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

export const noteOf = (host: GuardedHost) => readGuardNote(readFileSync(join(host.guard, 'note')));

export const ORDERED = ['systemctl reset-failed kubelet.service', 'systemctl --no-block restart kubelet.service'];

export const isUntouched = (host: GuardedHost, message?: string): void =>
  assert.deepEqual(stateOf(host), { config: 'new', plan: 'waiting' }, message);
export const isRestored = (host: GuardedHost, message?: string): void =>
  assert.deepEqual(stateOf(host), { config: 'old', plan: 'carried out' }, message);

/** Whether a timer ticks for it. */
export const isTicking = (host: GuardedHost): boolean => existsSync(join(host.root, 'timer'));

export const restarts = (host: GuardedHost): number => host.calls().filter((call) => call.includes('restart')).length;

export const alive = (host: GuardedHost, uptime: number, boot = BOOT): void =>
  host.write('alive', `${boot} ${uptime}\n`);

/** As the agent ends a plan. */
export const limits = (host: GuardedHost, ...lines: readonly string[]): void => {
  const plan = (host.read(join(host.guard, 'plan')) ?? '').replace(/(?:limit .*\n)*end\n$/, '');
  host.write('plan', `${plan}${lines.map((line) => `limit ${line}\n`).join('')}end\n`);
};
export const lifted = (host: GuardedHost): readonly string[] =>
  host.calls().filter((call) => call.includes('set-property'));

/** Declares a story on a host of its own, which is gone afterwards. */
export type It = (when: string, story: (host: GuardedHost, test: TestContext) => Promise<void>) => void;

export interface Telling {
  /** What the stories are about. */
  readonly about?: string;
  /** Those of `test/agent/guard/support/shells.ts`, unless it makes no difference under which. */
  readonly shells?: readonly Shell[];
  /** Why none of them can be told under a shell. */
  readonly skip?: (shell: Shell) => string | false;
  /** The host at the beginning of each story. */
  readonly host?: (shell: Shell) => GuardedHost;
  /** How many are told at once. */
  readonly concurrency?: number;
}

/** Tells the same stories under each shell. */
export function underEachShell(tell: (it: It, shell: Shell) => void, telling: Telling = {}): void {
  const { about = '', shells = SHELLS, skip = (shell: Shell) => shell.skip, host = createGuardedHost } = telling;
  const { concurrency = 1 } = telling;
  for (const shell of shells) {
    describeOrSkip(`the guard under ${shell.name}${about}`, { skip: skip(shell), concurrency }, () => {
      const declare: It = (when, story) =>
        void it(when, async (test) => {
          const on = host(shell);
          try {
            await story(on, test);
          } finally {
            on.remove();
          }
        });
      tell(declare, shell);
    });
  }
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Action, Decision } from '#agent/decide/decision.ts';
import type { Observation, Staged } from '#agent/decide/observation.ts';
import { activeOf, nameOf, type State } from '#agent/decide/state.ts';
import { A, AT, B, C } from './states.ts';

const letters = new Map([A, B, C].map((each, index) => [each.source.name, 'ABC'[index] ?? '']));
const letterOf = (name: string): string => letters.get(name) ?? name;

/** `stage B`, `install local`, `restart`, `collect-garbage`. */
function short(action: Action): string {
  switch (action.do) {
    case 'stage':
      return `stage ${letterOf(nameOf(action.config))}`;
    case 'install':
      return `install ${letterOf(nameOf(action.target))}`;
    case 'restart-kubelet':
      return 'restart';
    case 'start-kubelet':
      return 'start';
    case 'check':
      return `check ${letterOf(nameOf(action.config))}`;
    case 'recheck':
      return `recheck ${letterOf(nameOf(action.config))} to ${action.remedy}`;
    case 'repair':
      return `repair ${letterOf(nameOf(action.target))}`;
    case 'reboot':
      return `reboot by ${action.reboot.by}`;
    case 'withdraw-reboot':
    case 'arm-guard':
    case 'reassure-guard':
    case 'disarm-guard':
    case 'leave':
    case 'collect-garbage':
      return action.do;
  }
}

/** `idle: A`, where A is assigned, active and good; `falling-back (judge): B, active A, CrashLoop`; `trial (install): B, good A`. */
function stand({ next }: Decision): string {
  const { doing, lastKnownGood, error } = next;
  const step = 'change' in doing ? ` (${doing.change.step})` : '';
  const [assigned, active, good] = [next.assigned, activeOf(next), lastKnownGood].map((target) =>
    letterOf(nameOf(target)),
  );
  return [
    `${doing.phase}${step}: ${assigned}`,
    ...(active === assigned ? [] : [`active ${active}`]),
    ...(good === active ? [] : [`good ${good}`]),
    ...(error === null ? [] : [error.reason]),
  ].join(', ');
}

export const ready: Staged = { config: B, outcome: 'ready', warnings: [] };
export const refused: Staged = {
  config: B,
  outcome: 'refused',
  failure: { reason: 'ConfigInvalid', message: 'no such field' },
};
export const unavailable = (retryInMs: number): Staged => ({
  config: B,
  outcome: 'unavailable',
  failure: { reason: 'DownloadFailed', message: 'no answer' },
  retryInMs,
});
export const failedDownload = { reason: 'DownloadFailed', message: 'no answer', at: AT, config: B.source.name };
export const differ: Partial<Observation> = { files: { files: 'differ' } };
export const lost: Partial<Observation> = { files: { files: 'lost', message: 'gone' } };
export const blocked = (forGood: boolean): Partial<Observation> => ({
  files: { files: 'blocked', message: 'no way', forGood },
});
export const run = (id: string | null, automaticRestarts: number | null = 0): Partial<Observation> => ({
  service: { state: id === null ? 'starting' : 'running', run: id, automaticRestarts },
});
export const failedService: Partial<Observation> = { service: { state: 'failed', run: null, automaticRestarts: 3 } };
export const unseenService: Partial<Observation> = {
  service: { state: 'unknown', run: null, automaticRestarts: null },
};
export const contradicts: Partial<Observation> = {
  running: { running: 'contradicts', differences: ['maxPods=110 instead of 250'] },
};
export const notReady: Partial<Observation> = { nodeReady: 'no' };
export const unreadNode: Partial<Observation> = { nodeReady: 'unknown' };
export const rebooted: Partial<Observation> = { bootId: 'boot-2', ...run('run-1') };

/** Where the node stands; what is seen; where it stands then, as `stand` puts it, and what is to be done: `idle: B → collect-garbage`. */
type Row = readonly [state: State, observation: Observation, outcome: string];

const outcome = (decision: Decision): string =>
  stand(decision) + (decision.actions.length === 0 ? '' : ` → ${decision.actions.map(short).join(', ')}`);

/** One decision a row, each with a sentence for a name. */
export function table(title: string, rows: Readonly<Record<string, Row>>): void {
  describe(title, () => {
    for (const [when, [state, observation, expected]] of Object.entries(rows)) {
      it(when, () => assert.equal(outcome(decide(state, observation)), expected));
    }
  });
}

import type { Explained } from './verdict.ts';

const NARROWS = 'for the compiler: the other case cannot be here';
const NAMELESS = 'nobody has that name';
const UNREAD = 'a tag that nobody compares: it is the only other one';

/**
 * Mutants that no test notices, each with the reason why none should. Whoever changes the code finds out by `npm run mutants`
 * which of these are out of date: that fails as well as a survivor that is not here.
 */
export const SURVIVORS: Explained = {
  'agent/decide/change.ts': [
    ['advance', '\'judging\' → ""', UNREAD],
    ['reboot', 'order === undefined → false', NARROWS],
  ],
  'agent/decide/guard.ts': [
    ['runOfGuard', "guard.guard === 'fired' → true", 'no other has restarted anything'],
    [
      'failureOfFired',
      "case 'silence': return { reason: 'AgentSilent', message: `the agent gave no sign of life in any of i… → case 'silence':",
      'only the sentence is another',
    ],
    ['belongs', "case 'broken': return false; → case 'broken':", 'nothing is as false here'],
  ],
  'agent/decide/heed.ts': [
    ['heedLocal', "doing.phase === 'trial' → true", 'no other way has a config of ours and nothing good'],
    ['heedLocal', "doing.because !== 'unassigned' → true", 'the same is written once more'],
    ['heedConfig', 'active !== null → true', NARROWS],
    ['heedConfig', 'lastKnownGood !== null → true', NARROWS],
    ['withItsError', 'entry === undefined → false', NARROWS],
  ],
  'agent/decide/reboot.ts': [['awaitReboot', '\'awaited\' → ""', UNREAD]],
  'agent/decide/staging.ts': [['keptWith', '\'kept\' → ""', UNREAD]],
  'agent/decide/state.ts': [
    ['comeToRest', 'blamed.length === state.rejected.length → false', 'the same list is only copied'],
  ],
  'agent/decide/trial.ts': [
    ['startTrial', "seen.staged?.outcome === 'ready' → true", NARROWS],
    ['startTrial', 'seen.staged?.outcome → seen.staged.outcome', NARROWS],
    ['startTrial', '[] → ["Stryker was here"]', NARROWS],
    ['newTrial', "state.doing.phase === 'trial' → true", 'no other phase says how the Node was'],
    ['wasHealthy', "doing.phase === 'trial' → true", 'no other phase says how the kubelet was'],
  ],
  'reconciler/policy/isolate.ts': [
    [
      'culpritIn',
      '!works(without(subjects)) → false',
      'it leaves out one after the other, and throws the same in the end',
    ],
    ['without', '[] → ["Stryker was here"]', NAMELESS],
    ['without', 'pools.size === 0 → false', 'it only saves the look at every node'],
    ['without', 'node.spec?.pool → node.spec.pool', 'what throws there has no pool either'],
    ['without', 'pool.result !== undefined → true', NARROWS],
    ['touches', '\'\' → "Stryker was here!"', NAMELESS],
  ],
  'reconciler/policy/rollout/cohort.ts': [
    ['cohortOf', 'written === undefined → false', 'no node is older than NaN: nobody was there, as if it were unknown'],
    ['cohortOf', '[] → ["Stryker was here"]', 'where the moment is unknown, nobody looks who was there'],
    ['cohortOf', 'known === undefined → false', 'nobody was there where the moment is unknown, and that is asked too'],
  ],
};

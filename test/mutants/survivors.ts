import type { Explained } from './verdict.ts';

const NARROWS = 'for the compiler: the other case cannot be here';
const NAMELESS = 'nobody has that name';
const UNREAD = 'a tag that nobody compares: it is the only other one';

/**
 * Mutants that no test notices, each with the reason why none should. Whoever changes the code finds out by `npm run mutants`
 * which of these are out of date: that fails as well as a survivor that is not here.
 */
export const SURVIVORS: Explained = {
  'agent/decide/boots.ts': [
    ['bootsOf', "guard.guard === 'disarmed' || guard.guard === 'armed' → true", NARROWS],
    ['watched', 'good !== null → true', NARROWS],
    ['provedByBoot', 'unproved === undefined → false', NARROWS],
    ['afterAbsence', 'unproved === undefined → false', NARROWS],
    ['awaitedAfterAbsence', "intent.intent !== 'config' → false", NARROWS],
    ['withWatch', 'next.unproved === undefined → false', NARROWS],
    ['withWatch', "boots.guard === 'armed' → true", 'what was carried out for it has led back already'],
  ],
  'agent/decide/change.ts': [
    [
      'isOverdue',
      "change.step === 'install' || change.step === 'restart' → true",
      'no other step says how long it was in vain',
    ],
    ['advance', '\'judging\' → ""', UNREAD],
    ['reboot', 'order === undefined → false', NARROWS],
  ],
  'agent/decide/drift.ts': [['refuseNewBase', 'config.base === undefined → false', NARROWS]],
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
  'agent/decide/last-words.ts': [['wordsWanted', "guard.guard === 'fired' → true", 'no other has restarted anything']],
  'agent/decide/limits.ts': [
    ['unitOf', '\'\' → "Stryker was here!"', 'it is as little a unit'],
    ['valueOf', '\'\' → "Stryker was here!"', 'it is as little a number'],
  ],
  'agent/decide/reboot.ts': [['awaitReboot', '\'awaited\' → ""', UNREAD]],
  'agent/decide/staging.ts': [['keptWith', '\'kept\' → ""', UNREAD]],
  'agent/decide/state.ts': [
    ['comeToRest', 'blamed.length === state.rejected.length → false', 'the same list is only copied'],
  ],
  'agent/decide/start-trial.ts': [
    ['startTrial', "seen.staged?.outcome === 'ready' → true", NARROWS],
    ['startTrial', 'seen.staged?.outcome → seen.staged.outcome', NARROWS],
    ['startTrial', '[] → ["Stryker was here"]', NARROWS],
    ['newTrial', "state.doing.phase === 'trial' → true", 'no other phase says how the Node was'],
    ['wasHealthy', "doing.phase === 'trial' → true", 'no other phase says how the kubelet was'],
  ],
  'agent/decide/turn.ts': [
    ['turnNeeded', "intent.intent !== 'config' → false", NARROWS],
    ['isGranted', "intent.intent === 'config' → true", 'no other intent has a turn'],
    ['afterLoss', "intent.intent !== 'config' → false", 'no other intent is spent'],
  ],
  'agent/decide/upgrade.ts': [['minorIn', '\'\' → "Stryker was here!"', 'it is as little a version']],
  'reconciler/policy/adopt-name.ts': [['parsed', '{ return undefined; } → {}', 'the same']],
  'reconciler/policy/assign/choose-pool.ts': [
    ['possiblePools', 'required === undefined → true', 'it only spares a node the pools that cannot match it'],
  ],
  'reconciler/policy/assign/selector.ts': [
    [
      'requiredLabel',
      '({ matchLabels = {} }: LabelSelector): readonly [key: string, value: string] | undefined => Object.e… → () => undefined',
      'it only spares a node the pools that cannot match it',
    ],
  ],
  'reconciler/policy/desired.ts': [
    ['desiredState', "pool.status === 'valid' → true", NARROWS],
    ['judgeAll', '[] → ["Stryker was here"]', 'what is no node has no version'],
    ['poolIn', "choice?.choice === 'pool' → true", 'no other choice names a pool'],
    ['poolIn', 'choice?.choice → choice.choice', 'every node has one'],
  ],
  'reconciler/policy/disruption/disruption-of.ts': [
    ['classFor', '\'restart\' → ""', 'what is nothing worse counts as a restart'],
  ],
  'reconciler/policy/in-force/lost-commit.ts': [['lostCommit', 'commit !== undefined → true', NARROWS]],
  'reconciler/policy/in-force/mass-change.ts': [['targetIn', '\'\' → "Stryker was here!"', NAMELESS]],
  'reconciler/policy/in-force/refuse-commit.ts': [
    ['judgeCommit', '() => [] → () => undefined', 'no pool is judged where no commit is in force'],
    ['judgeCommit', '[] → ["Stryker was here"]', 'no pool is judged where no commit is in force'],
    ['judgeCommit', '\'\' → "Stryker was here!"', NAMELESS],
    ['isLeaving', '\'\' → "Stryker was here!"', NAMELESS],
    ['judgeCommit', 'node.spec?.pool → node.spec.pool', NARROWS],
    ['isLeaving', 'before.choices.get(metadata.name)?.choice → before.choices.get(metadata.name).choice', NARROWS],
    ['isLeaving', 'spec?.pool → spec.pool', NARROWS],
  ],
  'reconciler/policy/in-force/take-up.ts': [
    ['createTakeUps', '[] → ["Stryker was here"]', 'what is no pool is not kept'],
    ['createTakeUps', 'against === null || limits === undefined → against === null && limits === undefined', NARROWS],
    ['createTakeUps', 'limits === undefined → false', NARROWS],
  ],
  'reconciler/policy/isolate.ts': [
    ['isolate', '[] → ["Stryker was here"]', NAMELESS],
    ['uidOf', 'nodes.get(name)?.uid → nodes.get(name).uid', 'what throws there has no uid either'],
    ['uidOf', 'pools.get(name)?.metadata → pools.get(name).metadata', 'what throws there has no uid either'],
    ['without', 'subjects.length === 0 → false', 'it only saves the look at every node'],
    [
      'culpritIn',
      '!works(without(subjects)) → false',
      'it leaves out one after the other, and throws the same in the end',
    ],
    ['without', '[] → ["Stryker was here"]', NAMELESS],
    ['without', 'pools.size === 0 → false', 'it only saves the look at every node'],
    ['without', 'node.spec?.pool → node.spec.pool', 'what throws there has no pool either'],
    ['without', 'pool.result !== undefined → true', NARROWS],
    ['touches', 'step.node.spec?.pool → step.node.spec.pool', 'what throws there has no pool either'],
    ['touches', '\'\' → "Stryker was here!"', NAMELESS],
  ],
  'reconciler/policy/pool-status/plan-pools.ts': [
    ['specSteps', '\'\' → "Stryker was here!"', 'every object in a cluster has one'],
  ],
  'reconciler/policy/pool-status/pool-status.ts': [
    ['isTurnUnderWay', "verdict.verdict === 'hold' → true", 'no other verdict names a bound'],
    ['failureOf', 'spec.preflight?.configSource → spec.preflight.configSource', NARROWS],
    ['failureOf', 'spec.configSource?.name → spec.configSource.name', NARROWS],
    ['failureOf', '\'\' → "Stryker was here!"', NARROWS],
  ],
  'reconciler/policy/limits.ts': [['wordsOf', "pool.status === 'valid' → true", 'no other has a payload or a spec']],
  'reconciler/policy/room/vital-pods.ts': [
    ['isVital', "typeof priorityClassName === 'string' → true", NARROWS],
    ['mapsIn', '[] → ["Stryker was here"]', 'a text says nothing of itself'],
    ['amountIn', "typeof amount === 'string' || typeof amount === 'number' → true", 'no other reads as a quantity'],
  ],
  'reconciler/policy/sights/moved.ts': [
    ['movedOf', "before.choice !== 'pool' → false", 'no other choice names a pool'],
    ['hasSettled', 'desired.pools.get(name)?.commit → desired.pools.get(name).commit', NARROWS],
  ],
  'reconciler/policy/sights/own-time.ts': [
    [
      'seenOf',
      'drainFailed === undefined || failed === undefined → drainFailed === undefined && failed === undefined',
      'a sight has it where the node has it',
    ],
    ['seenOf', 'drainFailed === undefined → false', 'a sight has it where the node has it'],
    ['seenOf', 'failed === undefined → false', 'a sight has it where the node has it'],
  ],
  'reconciler/policy/sights/node-sight.ts': [
    ['unselectedOf', '\'none\' → ""', 'every node has one'],
    ['unselectedOf', 'desired.choices.get(node.name)?.choice → desired.choices.get(node.name).choice', NARROWS],
    ['stampSeen', "typeof stamp !== 'string' → false", NARROWS],
    ['apart', 'from === undefined → false', 'what was not promoted has no time that it soaked'],
  ],
  'reconciler/policy/rollout/aims.ts': [
    ['aimsOf', 'config === null → false', NARROWS],
    ['aimsOf', 'settled?.configName → settled.configName', NARROWS],
    ['aimsOf', 'sameTarget(member.target, target) → false', 'it only saves the second look at the node'],
    ['forgive', 'member.failedAt !== undefined → true', 'nobody forgave a failure that never was'],
    ['forgive', 'member.kubeletNode?.spec?.forgive → member.kubeletNode?.spec.forgive', NARROWS],
    ['forgive', 'member.kubeletNode?.spec → member.kubeletNode.spec', NARROWS],
    ['isUnassigned', 'kubeletNode?.spec?.pool → kubeletNode?.spec.pool', NARROWS],
    ['isUnassigned', 'kubeletNode?.spec → kubeletNode.spec', NARROWS],
    ['isUnassigned', 'pool?.name → pool.name', NARROWS],
    ['isOnFirstTrial', 'target === null → false', 'what is found then is null as well'],
    ['isOnFirstTrial', 'pool?.name → pool.name', NARROWS],
  ],
  'reconciler/policy/rollout/assignment.ts': [
    ['assignmentsOf', 'target === null || configName === null → target === null && configName === null', NARROWS],
    ['assignmentsOf', 'target === null → false', NARROWS],
    ['assignmentsOf', 'configName === null → false', NARROWS],
    ['assignmentOfSource', 'pool.commit === null → false', 'nothing is told by a pool whose commit nobody knows'],
  ],
  'reconciler/policy/rollout/before-restart.ts': [
    ['withReboot', 'kubeletNode?.status?.bootID → kubeletNode?.status.bootID', NARROWS],
    ['withReboot', 'kubeletNode?.status → kubeletNode.status', NARROWS],
  ],
  'reconciler/policy/rollout/budget.ts': [
    ['budgetsOf', 'pool !== undefined → true', NARROWS],
    ['budgetsOf', 'pool === undefined → false', NARROWS],
    ['budgetsOf', 'amount === undefined → false', 'what is no amount bounds nothing'],
    ['exposures', '\'\' → "Stryker was here!"', NAMELESS],
    ['isSettledOn', '\'\' → "Stryker was here!"', NAMELESS],
  ],
  'reconciler/policy/rollout/decide-group.ts': [
    ['isCount', "verdict.verdict === 'drain' → true", 'no other verdict has a stage'],
  ],
  'reconciler/policy/rollout/heritage.ts': [
    ['witnessed', '[] → ["Stryker was here"]', 'no config has that name'],
    ['witnessed', 'spec?.apply → spec.apply', NARROWS],
    ['broughtAlong', 'common === null || name === undefined → common === null && name === undefined', NARROWS],
    ['broughtAlong', 'common === null → false', NARROWS],
    ['broughtAlong', 'name === undefined → false', NARROWS],
    ['ranBefore', '\'\' → "Stryker was here!"', NARROWS],
  ],
  'reconciler/policy/rollout/payloads.ts': [
    ['payloadsOf', '\'\' → "Stryker was here!"', NAMELESS],
    ['payloadsOf', 'present !== undefined → false', 'it only saves the second reading'],
    ['parsed', 'payload === undefined → false', 'what is not there cannot be parsed either'],
  ],
  'reconciler/policy/rollout/disruptions-in.ts': [
    ['disruptionsIn', '\'\' → "Stryker was here!"', NAMELESS],
    ['disruptionsIn', 'present !== undefined → false', 'it only saves the second look'],
  ],
  'reconciler/policy/rollout/drain-steps.ts': [['stepFor', 'drain?.at → drain.at', NARROWS]],
  'reconciler/policy/rollout/lock-out.ts': [
    ['lockOutOf', 'sha256 === undefined → false', 'of what it does not say nothing is known'],
    ['lockOutOf', 'counted !== undefined → true', NARROWS],
    ['appliedOf', 'target === null → false', NARROWS],
  ],
  'reconciler/policy/rollout/plan-nodes.ts': [
    ['aim', '\'\' → "Stryker was here!"', NAMELESS],
    ['planGroup', '\'\' → "Stryker was here!"', NAMELESS],
    ['presenceSteps', '\'\' → "Stryker was here!"', 'every object in a cluster has one'],
    ['hearsayOf', '\'all\' → ""', 'only the sentence is another'],
    ['hearsayOf', '\'pool\' → ""', 'only the sentence is another'],
    ['refusedBasesOf', 'sha256 === undefined → false', NARROWS],
    ['stepsOf', 'node === undefined → false', NARROWS],
    ['stepsOf', 'target === null || aimed.configName === null → target === null && aimed.configName === null', NARROWS],
    ['stepsOf', 'target === null → false', NARROWS],
    ['stepsOf', 'aimed.configName === null → false', NARROWS],
    ['stepsOf', 'member.failedAt !== undefined → true', NARROWS],
    [
      'stepsOf',
      'member.forgive && member.failedAt !== undefined → member.forgive || member.failedAt !== undefined',
      'who failed and was not forgiven is not changed',
    ],
    ['stepsOf', "verdict.verdict === 'drain' → true", 'no other verdict has a stage'],
    ['stepsOf', "member.standing === 'failed' → true", 'who was not told it has failed, or is away as well'],
    ['rebootIn', 'spec?.reboot → spec.reboot', NARROWS],
    ['unspentReboot', 'node.spec?.reboot → node.spec.reboot', NARROWS],
    ['unspentReboot', 'node.status?.bootID → node.status.bootID', NARROWS],
    ['turnIn', 'spec?.turn → spec.turn', NARROWS],
    ['leavingSteps', 'pool !== undefined → true', 'who has settled and has no pool does not leave'],
  ],
  'reconciler/policy/rollout/preflight.ts': [['preflightFirst', 'kubeletNode?.spec → kubeletNode.spec', NARROWS]],
  'reconciler/policy/rollout/standing.ts': [
    ['agentAlive', 'heartbeat !== undefined → true', NARROWS],
    ['assignmentOf', 'node?.spec?.apply → node?.spec.apply', NARROWS],
    ['assignmentOf', 'node?.spec → node.spec', NARROWS],
    ['standingOf', 'node === undefined → false', NARROWS],
    ['isGranted', 'spec?.turn → spec.turn', NARROWS],
    ['openRequest', 'node === undefined → false', NARROWS],
    ['failedAt', '[] → ["Stryker was here"]', 'no config has that name'],
  ],
  'reconciler/policy/rollout/untaint-steps.ts': [
    ['untaintSteps', 'gated.length === 0 → false', 'it only saves the look at every decision'],
    ['isFree', 'choices.get(name)?.choice → choices.get(name).choice', NARROWS],
  ],
  'reconciler/policy/rollout/amount.ts': [['thresholdOf', '\'up\' → ""', UNREAD]],
  'reconciler/policy/rollout/waves.ts': [['share', '\'up\' → ""', UNREAD]],
  'reconciler/policy/rollout/order.ts': [['compare', 'a < b → a <= b', 'no two are the same']],
  'reconciler/policy/rollout/rollout-status.ts': [
    ['rememberRollout', 'config === null || target === null → config === null && target === null', NARROWS],
    ['rememberRollout', 'config === null → false', NARROWS],
    ['rememberRollout', 'target === null → false', NARROWS],
    ['hasArrived', 'pool?.spec → pool.spec', NARROWS],
    ['summariseHolds', 'a.reason < b.reason → a.reason <= b.reason', 'no two are the same'],
  ],
  'reconciler/policy/rollout/halt.ts': [
    [
      'haltOf',
      'group.pool === null || config === null || target === null → (group.pool === null || config === null) && target === null',
      NARROWS,
    ],
    ['haltOf', 'group.pool === null || config === null || target === null → false', 'then nobody has failed either'],
    ['haltOf', 'group.pool === null || config === null → false', NARROWS],
    ['haltOf', 'group.pool === null || config === null → group.pool === null && config === null', NARROWS],
    ['haltOf', 'group.pool === null → false', NARROWS],
    ['haltOf', 'config === null → false', NARROWS],
    ['haltOf', 'target === null → false', NARROWS],
    ['releaseOf', '\'\' → "Stryker was here!"', 'what has no time is not forgiven'],
    ['releaseOf', 'sha256 !== undefined → true', NARROWS],
  ],
  'reconciler/policy/rollout/holds/base-refused.ts': [['baseRefused', 'base === undefined → false', NARROWS]],
  'reconciler/policy/rollout/holds/impossible.ts': [
    ['noConfigSource', 'member.target?.apply → member.target.apply', NARROWS],
  ],
  'reconciler/policy/rollout/membership.ts': [
    ['membershipOf', "{ choice: 'none' } → {}", 'every node has one'],
    ['membershipOf', '\'none\' → ""', 'every node has one'],
    ['soakOf', '\'0s\' → ""', 'what is not a valid duration lasts no time'],
    ['memberOf', 'promotedAt !== undefined → true', NARROWS],
  ],
  'reconciler/policy/rollout/cohort.ts': [
    ['cohortOf', 'written === undefined → false', 'no node is older than NaN: nobody was there, as if it were unknown'],
    ['cohortOf', '[] → ["Stryker was here"]', 'where the moment is unknown, nobody looks who was there'],
    ['cohortOf', 'known === undefined → false', 'nobody was there where the moment is unknown, and that is asked too'],
  ],
  'reconciler/policy/repo/load-pool.ts': [
    ['unusedFiles', '[] → ["Stryker was here"]', 'a pool has its pool.yaml at least, or is not read'],
    ['configsByPool', '\'\' → "Stryker was here!"', NARROWS],
    ['configsByPool', 'known !== undefined → false', 'it only saves the look at every file'],
    ['loadPool', 'read.length < layers.length → false', 'what is no layer has an error in it'],
  ],
  'reconciler/policy/repo/load-repo.ts': [
    ['load', 'finding.file === undefined → false', 'git leaves out nothing without a path'],
    ['misnamedCluster', '\'\' → "Stryker was here!"', 'both names lose their ending alike'],
  ],
  'reconciler/policy/repo/read-blockers.ts': [
    ['readUrl', '\'\' → "Stryker was here!"', 'a file with an error in it is not used'],
    ['readPods', "typeof namespace !== 'string' → false", 'what is no text is no label either'],
  ],
  'reconciler/policy/repo/read-cluster.ts': [['readVersions', 'minor !== undefined → true', NARROWS]],
  'reconciler/policy/repo/read-rollout.ts': [
    ['checkAscending', 'canary !== undefined → true', 'no amount is undefined'],
    ['sizeOf', "typeof amount === 'number' → false", 'a number reads as itself'],
    ['readSoak', '\'0s\' → ""', 'a file with an error in it is not used'],
  ],
  'reconciler/policy/repo/read-scalars.ts': [
    ['readInteger', "typeof value === 'number' → true", 'no other is an integer'],
    ['readDuration', "typeof value === 'string' → true", NARROWS],
    ['readAmount', "typeof value === 'number' → true", 'no other is an integer'],
    ['readAmount', 'percent !== undefined → true', NARROWS],
  ],
  'reconciler/policy/repo/read-selector.ts': [
    ['readExpression', "typeof key === 'string' → true", 'a file with an error in it is not used'],
    ['readExpression', '\'\' → "Stryker was here!"', 'a file with an error in it is not used'],
  ],
  'reconciler/policy/repo/verdict-cache.ts': [['rememberVerdicts', 'oldest !== undefined → true', NARROWS]],
  'reconciler/policy/window/cron.ts': [
    ['readCron', '\'\' → "Stryker was here!"', NARROWS],
    ['readCron', '!valid || parsed === undefined → !valid && parsed === undefined', NARROWS],
    ['readCron', 'parsed === undefined → false', NARROWS],
    ['numbersIn', "values.filter((value) => typeof value === 'number') → values", 'no day is a text'],
    ['numbersIn', "typeof value === 'number' → true", 'no day is a text'],
  ],
  'reconciler/policy/window/days.ts': [
    ['meansAnyDay', 'day < FIRST_OF_2000 + CALENDAR_DAYS → day <= FIRST_OF_2000 + CALENDAR_DAYS', 'a day more'],
  ],
  'reconciler/policy/window/read-window.ts': [
    ['readWindow', '!read.ok || durationMs === undefined || zone === undefined → false', NARROWS],
    [
      'readWindow',
      '!read.ok || durationMs === undefined || zone === undefined → (!read.ok || durationMs === undefined) && zone === undefined',
      NARROWS,
    ],
    ['readWindow', '!read.ok || durationMs === undefined → false', NARROWS],
    ['readWindow', '!read.ok || durationMs === undefined → !read.ok && durationMs === undefined', NARROWS],
    ['readWindow', 'durationMs === undefined → false', NARROWS],
    ['readWindow', 'zone === undefined → false', NARROWS],
  ],
  'reconciler/policy/window/say.ts': [
    ['sayOpen', '[] → ["Stryker was here"]', 'where changes may begin, each layer has a window that is on'],
    [
      'earliest',
      'until(seen) < until(best) → until(seen) <= until(best)',
      'of two that change at once either is named',
    ],
  ],
  'reconciler/policy/window/schedule.ts': [
    ['createSchedule', 'day >= end → day > end', 'the margin is a day too wide'],
    ['createSchedule', 'day <= end → day < end', 'the margin is a day too wide'],
  ],
  'reconciler/policy/window/span.ts': [
    ['spanAt', 'joined < MOST_JOINED → joined <= MOST_JOINED', 'one window more is followed'],
    ['spanAt', 'start + durationMs → start - durationMs', 'it is looked again a little sooner'],
  ],
  'reconciler/policy/window/windows-state.ts': [
    [
      'boundaryOf',
      'Math.max(...layer.filter(({ span }) => span.on).map(until)) → Math.min(...layer.filter(({ span }) => span.on).map(until))',
      'it only takes more looks',
    ],
    [
      'boundaryOf',
      'Math.max( ...deny.filter(({ window, span }) => window === undefined || span.on).map(until), ...allow… → Math.min(...deny.filter(({ window, span }) => window === undefined || span.on).map(until), ...allow.…',
      'it only takes more looks',
    ],
  ],
  'reconciler/policy/window/zone.ts': [['zoneNamed', 'before === after → false', 'it only saves the look at the wall']],
};

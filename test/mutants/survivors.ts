import type { Explained } from './verdict.ts';

const NARROWS = 'for the compiler: the other case cannot be here';
const NAMELESS = 'nobody has that name';
const UNREAD = 'a tag that nobody compares: it is the only other one';

/**
 * Mutants that no test notices, each with the reason why none should. Whoever changes the code finds out by `npm run mutants`
 * which of these are out of date: that fails as well as a survivor that is not here.
 */
export const SURVIVORS: Explained = {
  'agent/decide/boot-guard.ts': [
    ['bootsOf', "guard.guard === 'disarmed' || guard.guard === 'armed' → true", NARROWS],
    ['watched', 'good !== null → true', NARROWS],
    ['provenByBoot', 'unproved === undefined → false', NARROWS],
    ['fallBackAfterAbsence', 'unproved === undefined → false', NARROWS],
    ['whyTurnNeededAfterAbsence', "intent.intent !== 'config' → false", NARROWS],
    ['withBootGuard', 'next.unproved === undefined → false', NARROWS],
    ['withBootGuard', "boots.guard === 'armed' → true", 'what was carried out for it has led back already'],
  ],
  'agent/decide/change.ts': [
    [
      'isOverdue',
      "change.step === 'install' || change.step === 'restart' → true",
      'no other step says how long it was in vain',
    ],
    ['advanceChange', '\'judging\' → ""', UNREAD],
    ['reboot', 'order === undefined → false', NARROWS],
  ],
  'agent/decide/drift.ts': [['refuseNewBase', 'config.base === undefined → false', NARROWS]],
  'agent/decide/trial-guard.ts': [
    ['runStartedByGuard', "guard.guard === 'fired' → true", 'no other has restarted anything'],
    [
      'failureOfFiredGuard',
      "case 'silence': return { reason: 'AgentSilent', message: `the agent gave no sign of life in any of i… → case 'silence':",
      'only the sentence is another',
    ],
    ['belongs', "case 'broken': return false; → case 'broken':", 'nothing is as false here'],
  ],
  'agent/decide/apply-assignment.ts': [
    ['heedLocal', "doing.phase === 'trial' → true", 'no other way has a config of ours and nothing good'],
    ['heedLocal', "doing.because !== 'unassigned' → true", 'the same is written once more'],
    ['heedConfig', 'active !== null → true', NARROWS],
    ['heedConfig', 'lastKnownGood !== null → true', NARROWS],
    ['withItsError', 'entry === undefined → false', NARROWS],
  ],
  'agent/decide/add-last-errors.ts': [
    ['lastErrorsQuery', "guard.guard === 'fired' → true", 'no other has restarted anything'],
  ],
  'agent/decide/cgroup-limits.ts': [
    ['unitOf', '\'\' → "Stryker was here!"', 'it is as little a unit'],
    ['systemdValueOf', '\'\' → "Stryker was here!"', 'it is as little a number'],
  ],
  'agent/decide/reboot.ts': [
    ['awaitReboot', 'reboot === undefined → false', NARROWS],
    ['awaitReboot', '\'awaited\' → ""', UNREAD],
  ],
  'agent/decide/staging.ts': [['keptWith', '\'kept\' → ""', UNREAD]],
  'agent/decide/state.ts': [
    ['becomeIdle', 'rejected.length === state.rejected.length → false', 'the same list is only copied'],
  ],
  'agent/decide/start-trial.ts': [
    ['startTrial', "seen.staged?.outcome === 'ready' → true", NARROWS],
    ['startTrial', 'seen.staged?.outcome → seen.staged.outcome', NARROWS],
    ['startTrial', '[] → ["Stryker was here"]', NARROWS],
    ['newTrial', "state.doing.phase === 'trial' → true", 'no other phase says how the Node was'],
    ['wasHealthy', "doing.phase === 'trial' → true", 'no other phase says how the kubelet was'],
  ],
  'agent/decide/restart-turn.ts': [
    ['turnNeeded', "intent.intent !== 'config' → false", NARROWS],
    ['isTurnGranted', "intent.intent === 'config' → true", 'no other intent has a turn'],
    ['afterLoss', "intent.intent !== 'config' → false", 'no other intent is spent'],
  ],
  'agent/decide/kubelet-upgrade.ts': [['minorIn', '\'\' → "Stryker was here!"', 'it is as little a version']],
  'reconciler/policy/config-map-name.ts': [['parsed', '{ return undefined; } → {}', 'the same']],
  'reconciler/policy/analysis/canary-analysis.ts': [['judged', '[] → ["Stryker was here"]', 'it has no verdict']],
  'reconciler/policy/analysis/measure-marks.ts': [
    ['measureMarks', 'a.metadata.name < b.metadata.name → a.metadata.name <= b.metadata.name', 'no two are the same'],
  ],
  'reconciler/policy/pool-selection/choose-pool.ts': [
    ['possiblePools', 'required === undefined → true', 'it only spares a node the pools that cannot match it'],
  ],
  'reconciler/policy/pool-selection/selector.ts': [
    [
      'requiredLabel',
      '({ matchLabels = {} }: LabelSelector): readonly [key: string, value: string] | undefined => Object.e… → () => undefined',
      'it only spares a node the pools that cannot match it',
    ],
  ],
  'reconciler/policy/class-labels.ts': [
    ['labelsAsked', 'pool?.inGit?.template?.inputs → pool?.inGit?.template.inputs', NARROWS],
    ['writeClassLabels', '\'\' → "Stryker was here!"', NARROWS],
    ['changedLabels', 'end < 0 → end <= 0', 'no label has an empty name'],
  ],
  'reconciler/policy/desired.ts': [
    [
      'assemble',
      'known !== undefined && isStillValid(known.within, present) → false',
      'it only saves that the nodes are sorted and judged again',
    ],
    ['withRecordedClasses', '[] → ["Stryker was here"]', 'a pool that goes sorts no nodes'],
    ['withRecordedClasses', 'fleet.pools.get(pool.name)?.status → fleet.pools.get(pool.name).status', NARROWS],
    ['desiredState', "pool.status === 'valid' → true", NARROWS],
    ['judgeMembers', '[] → ["Stryker was here"]', 'every pool that is judged has its list of nodes'],
    ['poolIn', "choice?.choice === 'pool' → true", 'no other choice names a pool'],
    ['poolIn', 'choice?.choice → choice.choice', 'every node has one'],
  ],
  'reconciler/policy/disruption/field-disruption.ts': [
    ['classFor', '\'restart\' → ""', 'what is nothing worse counts as a restart'],
    ['featuresOf', '[] → ["Stryker was here"]', 'every change that is asked has features here'],
  ],
  'reconciler/policy/forecast/simulated-clock.ts': [
    ['createSimulatedClock', 'entries[middle]?.time → entries[middle].time', NARROWS],
  ],
  'reconciler/policy/forecast/forecast.ts': [
    ['wayOf', '() => null → () => undefined', 'it is as little a time'],
    [
      'wayOf',
      'failsMs >= promotesMs → failsMs > promotesMs',
      'one that fails at the end of its trial is not followed as failing',
    ],
    [
      'wayOf',
      'passed -= 1 → passed += 1',
      'after a failure the bound is that of the canaries, however many have passed',
    ],
    ['wayOf', 'probationMs !== null → true', 'with a full probation nothing bounds who is on trial'],
  ],
  'reconciler/policy/forecast/generations.ts': [
    ['earliest', 'Math.min(a, b) === Infinity → false', 'a moment that never comes is never counted'],
    ['generationsIn', 'rollout === null → false', NARROWS],
    ['generationsIn', 'since === undefined → false', 'no moment is after one that is not known'],
    ['generationsIn', 'beganAt >= since → false', 'a node that began since then promoted it since then, or not at all'],
    [
      'generationsIn',
      'beganAt >= since → beganAt > since',
      'a node that began since then promoted it since then, or not at all',
    ],
    ['wayOf', '\'\' → "Stryker was here!"', 'it is as little a duration'],
  ],
  'reconciler/policy/forecast/waiting.ts': [
    [
      'waitingNodes',
      'first.head.place < head.place → first.head.place <= head.place',
      'no two nodes have the same place',
    ],
  ],
  'reconciler/policy/commit-admission/recovered-commit.ts': [
    ['recoveredCommit', 'commit !== undefined → true', NARROWS],
  ],
  'reconciler/policy/commit-admission/mass-change.ts': [
    ['massChange', 'gets?.sha256 → gets.sha256', NARROWS],
    ['targetIn', '\'\' → "Stryker was here!"', NAMELESS],
  ],
  'reconciler/policy/commit-admission/refuse-commit.ts': [
    ['judgeCommit', '() => [] → () => undefined', 'no pool is judged where no commit is in force'],
    ['judgeCommit', '[] → ["Stryker was here"]', 'no pool is judged where no commit is in force'],
    ['judgeCommit', '\'\' → "Stryker was here!"', NAMELESS],
    ['isLeaving', '\'\' → "Stryker was here!"', NAMELESS],
    ['judgeCommit', 'node.spec?.pool → node.spec.pool', NARROWS],
    ['isLeaving', 'before.choices.get(metadata.name)?.choice → before.choices.get(metadata.name).choice', NARROWS],
    ['isLeaving', 'spec?.pool → spec.pool', NARROWS],
  ],
  'reconciler/policy/commit-admission/accepted-commits.ts': [
    ['createAcceptedCommits', '[] → ["Stryker was here"]', 'what is no pool is not kept'],
    ['createAcceptedCommits', 'limits === undefined → false', NARROWS],
  ],
  'reconciler/policy/skip-unreadable.ts': [
    ['skipUnreadable', '[] → ["Stryker was here"]', NAMELESS],
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
    ['touchesUnreadable', 'step.node.spec?.pool → step.node.spec.pool', 'what throws there has no pool either'],
    ['touchesUnreadable', '\'\' → "Stryker was here!"', NAMELESS],
  ],
  'reconciler/policy/plan-config-sources.ts': [
    ['configsOf', '[] → ["Stryker was here"]', 'what has no bytes is not made'],
    ['planConfigSources', '\'\' → "Stryker was here!"', 'a pool whose bytes are known is of a commit'],
  ],
  'reconciler/policy/prune-config-maps.ts': [
    ['planPruning', 'old.length === 0 → false', 'it only saves the look at every node'],
    ['namesInUse', 'configName !== undefined → true', 'no source is without a name'],
    ['namesInUse', '[] → ["Stryker was here"]', NAMELESS],
  ],
  'reconciler/policy/pool-members.ts': [
    ['membersOfPools', 'members.get(choice.pool)?.push → members.get(choice.pool).push', NARROWS],
    ['membersOfPools', "choice.choice === 'pool' → true", 'no other choice names one pool'],
    ['isStillValid', 'others[index]?.name → others[index].name', NARROWS],
  ],
  'reconciler/policy/presence-steps.ts': [
    ['presenceSteps', '\'\' → "Stryker was here!"', 'every object in a cluster has one'],
  ],
  'reconciler/policy/steps.ts': [['subjectOf', 'default: return unreachable(step); → default:', NARROWS]],
  'reconciler/policy/pool-status/class-statuses.ts': [
    ['classStatuses', 'a.name < b.name → a.name <= b.name', 'no two classes have the same name'],
  ],
  'reconciler/policy/pool-status/holds-summary.ts': [
    ['summariseHolds', 'a.reason < b.reason → a.reason <= b.reason', 'no two are the same'],
  ],
  'reconciler/policy/pool-status/plan-pools.ts': [
    ['isStillAsked', 'present?.status → present.status', NARROWS],
    ['specSteps', '\'\' → "Stryker was here!"', 'every object in a cluster has one'],
  ],
  'reconciler/policy/pool-status/pool-status.ts': [
    ['isTurnUnderWay', "verdict.verdict === 'hold' → true", 'no other verdict names a bound'],
    ['failureOf', 'spec.preflight?.configSource → spec.preflight.configSource', NARROWS],
    ['failureOf', 'spec.configSource?.name → spec.configSource.name', NARROWS],
    ['failureOf', '\'\' → "Stryker was here!"', NARROWS],
  ],
  'reconciler/policy/commit-limits.ts': [
    ['wordsOf', "pool.status === 'valid' → true", 'no other has a payload or a spec'],
  ],
  'reconciler/policy/allocatable/allocatable.ts': [
    ['mostLeft', 'exact !== undefined → true', 'what nobody knows is not more than anything'],
    ['amountIn', '\'\' → "Stryker was here!"', 'it is as little a quantity'],
    ['withDefaults', 'row === undefined → false', NARROWS],
    ['podsAllowed', 'most !== undefined → true', NARROWS],
  ],
  'reconciler/policy/allocatable/vital-pods.ts': [
    ['isVital', "typeof priorityClassName === 'string' → true", NARROWS],
    ['mapsIn', '[] → ["Stryker was here"]', 'a text says nothing of itself'],
    ['amountIn', "typeof amount === 'string' || typeof amount === 'number' → true", 'no other reads as a quantity'],
  ],
  'reconciler/policy/first-seen/pool-change.ts': [
    ['isReclassed', 'kubeletNode?.metadata → kubeletNode.metadata', NARROWS],
    ['isReclassed', 'gets?.sha256 → gets.sha256', NARROWS],
    ['poolChangeOf', "before.choice !== 'pool' → false", 'no other choice names a pool'],
    ['hasSettled', 'desired.pools.get(name)?.commit → desired.pools.get(name).commit', NARROWS],
  ],
  'reconciler/policy/first-seen/clock-jump.ts': [['shiftTimes', 'by === 0 → false', 'it only saves the copies']],
  'reconciler/policy/first-seen/first-seen-times.ts': [['withUnreadableNodes', '[] → ["Stryker was here"]', NAMELESS]],
  'reconciler/policy/first-seen/clock-skew.ts': [
    [
      'seenOf',
      'drainFailed === undefined || failed === undefined → drainFailed === undefined && failed === undefined',
      'a sight has it where the node has it',
    ],
    ['seenOf', 'drainFailed === undefined → false', 'a sight has it where the node has it'],
    ['seenOf', 'failed === undefined → false', 'a sight has it where the node has it'],
  ],
  'reconciler/policy/first-seen/node-first-seen.ts': [
    ['unselectedOf', '\'none\' → ""', 'every node has one'],
    ['unselectedOf', 'desired.choices.get(node.name)?.choice → desired.choices.get(node.name).choice', NARROWS],
    ['stampSeen', "typeof stamp !== 'string' → false", NARROWS],
    ['apart', 'from === undefined → false', 'what was not promoted has no time that it soaked'],
  ],
  'reconciler/policy/rollout/targets.ts': [
    [
      'isOneOfThePool',
      'kubeletNode?.spec?.configSource !== undefined && kubeletNode.spec.pool === pool?.name && hasProvedAn… → false',
      'it only saves time: who is asks for no more',
    ],
    ['isOneOfThePool', 'pool?.name → pool.name', NARROWS],
    [
      'isOneOfThePool',
      "({ kubeletNode }: Member, pool: Group['pool']): boolean => kubeletNode?.spec?.configSource !== undef… → () => undefined",
      'it only saves time: the rest comes to the same',
    ],
    ['targetsOf', 'config === null → false', NARROWS],
    ['targetsOf', 'sameTarget(member.target, target) → false', 'it only saves the second look at the node'],
    ['withForgivenFailures', 'member.failedAt !== undefined → true', 'nobody forgave a failure that never was'],
    ['withForgivenFailures', 'member.kubeletNode?.spec?.forgive → member.kubeletNode?.spec.forgive', NARROWS],
    ['withForgivenFailures', 'member.kubeletNode?.spec → member.kubeletNode.spec', NARROWS],
    ['isUnassigned', 'kubeletNode?.spec?.pool → kubeletNode?.spec.pool', NARROWS],
    ['isUnassigned', 'kubeletNode?.spec → kubeletNode.spec', NARROWS],
    ['isUnassigned', 'pool?.name → pool.name', NARROWS],
  ],
  'reconciler/policy/rollout/rollout-analysis.ts': [
    ['analysisOf', 'node !== undefined && target !== null → true', NARROWS],
    ['analysisOf', 'node !== undefined && target !== null → node !== undefined || target !== null', NARROWS],
    ['analysisOf', 'node !== undefined → true', NARROWS],
    ['analysisOf', 'target !== null → true', NARROWS],
    ['analysisOf', '[] → ["Stryker was here"]', NARROWS],
    ['measureSteps', 'rollout === null → false', NARROWS],
    ['measureSteps', 'mark === null && !isMeasured(kubeletNode) → false', 'it only saves the look at them'],
  ],
  'reconciler/policy/rollout/node-spec.ts': [
    ['nodeSpecsOf', '!applied.has(name) → true', 'it only saves that the same is made again'],
    ['targetsIn', 'target === null || configName === null → target === null && configName === null', NARROWS],
    ['targetsIn', 'target === null → false', NARROWS],
    ['targetsIn', 'configName === null → false', NARROWS],
    ['targetsIn', 'known.get(target) === configName → false', 'it only saves that the same is looked for again'],
    ['assignmentOfSource', 'pool.commit === null → false', 'nothing is told by a pool whose commit nobody knows'],
    ['sameTrial', 'a === b → false', 'it only saves the look at every field'],
  ],
  'reconciler/policy/rollout/before-restart.ts': [
    ['misfitOf', 'counted === undefined → false', NARROWS],
    ['withReboot', 'kubeletNode?.status?.bootID → kubeletNode?.status.bootID', NARROWS],
    ['withReboot', 'kubeletNode?.status → kubeletNode.status', NARROWS],
  ],
  'reconciler/policy/rollout/max-unavailable.ts': [
    ['budgetsOf', 'pool !== undefined → true', NARROWS],
    ['budgetsOf', 'pool === undefined → false', NARROWS],
    ['budgetsOf', 'left === undefined → false', NARROWS],
    ['budgetsOf', 'amount === undefined → false', 'what is no amount bounds nothing'],
  ],
  'reconciler/policy/rollout/decide-group.ts': [
    ['isCount', "verdict.verdict === 'drain' → true", 'no other verdict has a stage'],
  ],
  'reconciler/policy/rollout/new-node.ts': [
    ['isOnFirstTrial', 'target === null → false', 'what is found then is null as well'],
    ['isOnFirstTrial', 'pool?.name → pool.name', NARROWS],
  ],
  'reconciler/policy/rollout/revert.ts': [
    ['revertOf', 'own === null → true', 'where there is one, nobody asks'],
    ['fallbackConfigOf', '\'\' → "Stryker was here!"', NARROWS],
  ],
  'reconciler/policy/rollout/label-grace.ts': [
    ['holdForLabelGrace', 'lost.length === 0 && moved.length === 0 → false', 'it only saves the count of all nodes'],
    ['guardMoves', 'since?.since → since.since', NARROWS],
    ['isReclassed', 'kubeletNodes.get(name)?.spec → kubeletNodes.get(name).spec', NARROWS],
    ['isReclassed', 'kubeletNodes.get(name)?.spec?.pool → kubeletNodes.get(name)?.spec.pool', NARROWS],
    ['isReclassed', 'poolChange?.to → poolChange.to', NARROWS],
  ],
  'reconciler/policy/rollout/on-trial.ts': [
    ['namesOnTrial', '\'\' → "Stryker was here!"', NAMELESS],
    ['namesOnTrial', 'kubeletNode !== undefined → true', NARROWS],
    ['isOfLostClass', 'classes?.byNode → classes.byNode', NARROWS],
    [
      'isOfLostClass',
      'classes?.byNode.has(view.name) !== false → false',
      'what a class is given that has nodes is known as the payload already',
    ],
    ['isThrough', 'node.status?.promotedAt → node.status.promotedAt', NARROWS],
  ],
  'reconciler/policy/rollout/trial-terms.ts': [
    ['trialTermsOf', '\'\' → "Stryker was here!"', 'it is as little a duration'],
  ],
  'reconciler/policy/payload-reader.ts': [
    ['createPayloadReader', 'value !== undefined → false', 'it only saves the second reading'],
    ['createPayloadReader', '\'\' → "Stryker was here!"', NAMELESS],
    ['createPayloadReader', 'present !== undefined → false', 'it only saves the second reading'],
    ['parsed', 'payload === undefined → false', 'what is not there cannot be parsed either'],
  ],
  'reconciler/policy/rollout/node-disruption.ts': [
    ['nodeDisruptions', '\'\' → "Stryker was here!"', NAMELESS],
    ['nodeDisruptions', 'present !== undefined → false', 'it only saves the second look'],
    ['inner', 'present !== undefined → false', 'it only saves the second look'],
  ],
  'reconciler/policy/rollout/drain-steps.ts': [
    ['drainSteps', 'isOfInterest(each) → true', 'it only saves to note who needs nothing'],
    [
      'isOfInterest',
      "member.node.drain !== undefined || verdict.verdict === 'drain' || isCounted(verdict) → true",
      'it only saves to note who needs nothing',
    ],
    ['stepFor', 'drain?.at → drain.at', NARROWS],
  ],
  'reconciler/policy/rollout/lock-out.ts': [
    ['lockOutVerdict', 'counted !== undefined → true', NARROWS],
    ['appliedOf', 'target === null → false', NARROWS],
    [
      'takesMore',
      'known !== undefined && known.of.every((target, index) => sameTarget(target, of[index] ?? null)) → false',
      'it only saves that the same is computed again',
    ],
    [
      'takesMore',
      '(target, index) => sameTarget(target, of[index] ?? null) → () => undefined',
      'it only saves that the same is computed again',
    ],
    ['takesMore', 'of[index] ?? null → of[index] && null', 'it only saves that the same is computed again'],
  ],
  'reconciler/policy/plan-nodes.ts': [
    ['aim', '\'\' → "Stryker was here!"', NAMELESS],
    ['planGroup', '\'\' → "Stryker was here!"', NAMELESS],
    ['hearsayOf', '\'all\' → ""', 'only the sentence is another'],
    ['hearsayOf', '\'pool\' → ""', 'only the sentence is another'],
    ['refusedBasesOf', 'sha256 === undefined → false', NARROWS],
  ],
  'reconciler/policy/rollout/node-steps.ts': [
    [
      'nodeSteps',
      'target === null || aimed.configName === null → target === null && aimed.configName === null',
      NARROWS,
    ],
    ['nodeSteps', 'target === null → false', NARROWS],
    ['nodeSteps', 'aimed.configName === null → false', NARROWS],
    ['nodeSteps', 'terms === undefined → false', NARROWS],
    ['nodeSteps', 'member.failedAt !== undefined → true', NARROWS],
    [
      'nodeSteps',
      'member.forgive && member.failedAt !== undefined → member.forgive || member.failedAt !== undefined',
      'who failed and was not forgiven is not changed',
    ],
    ['nodeSteps', "verdict.verdict === 'drain' → true", 'no other verdict has a stage'],
    ['rebootIn', 'spec?.reboot → spec.reboot', NARROWS],
    ['unspentReboot', 'node.spec?.reboot → node.spec.reboot', NARROWS],
    ['unspentReboot', 'node.status?.bootID → node.status.bootID', NARROWS],
    ['turnIn', 'spec?.turn → spec.turn', NARROWS],
    ['leavingSteps', 'pool !== undefined → true', 'who has settled and has no pool does not leave'],
  ],
  'reconciler/policy/rollout/preflight-order.ts': [
    ['preflightBeforeDrain', 'kubeletNode?.spec → kubeletNode.spec', NARROWS],
  ],
  'reconciler/policy/rollout/queries-to-ask.ts': [
    ['queriesToAsk', 'target === null → false', 'no rollout is about no target'],
  ],
  'reconciler/policy/remember-classes.ts': [
    ['rememberClasses', 'names.length === 0 → false', 'it only saves the look at every node'],
    ['labelsToKeep', 'node === undefined → false', 'it has no KubeletNode then'],
  ],
  'reconciler/policy/rollout/node-progress.ts': [
    ['assignmentOf', 'node?.spec?.apply → node?.spec.apply', NARROWS],
    ['assignmentOf', 'node?.spec → node.spec', NARROWS],
    ['progressOf', 'node === undefined → false', NARROWS],
    ['standingOfLiving', 'node.spec.turn?.seen → node.spec.turn.seen', NARROWS],
    ['failedAt', '[] → ["Stryker was here"]', 'no config has that name'],
    ['isPastProbation', 'node?.metadata → node.metadata', NARROWS],
    ['isPastProbation', 'active?.name → active.name', NARROWS],
  ],
  'reconciler/policy/untaint-steps.ts': [
    ['untaintSteps', 'gated.length === 0 → false', 'it only saves the look at every decision'],
    ['isFree', 'choices.get(node.name)?.choice → choices.get(node.name).choice', NARROWS],
  ],
  'reconciler/policy/rollout/amount.ts': [
    ['shareOf', '\'up\' → ""', UNREAD],
    ['thresholdOf', '\'up\' → ""', UNREAD],
  ],
  'reconciler/policy/rollout/node-order.ts': [['compare', 'a < b → a <= b', 'no two are the same']],
  'reconciler/policy/rollout/rollout-status.ts': [
    ['rememberRollout', 'config === null || target === null → config === null && target === null', NARROWS],
    ['rememberRollout', 'config === null → false', NARROWS],
    ['rememberRollout', 'target === null → false', NARROWS],
  ],
  'reconciler/policy/rollout/halt.ts': [
    ['haltBroughtAlong', '\'\' → "Stryker was here!"', NAMELESS],
    ['haltBroughtAlong', 'pool?.name → pool.name', NARROWS],
    ['haltBroughtAlong', '[] → ["Stryker was here"]', 'a text is about no config'],
    ['haltBroughtAlong', 'target === null → false', NARROWS],
    [
      'haltOf',
      'group.pool === null || config === null || target === null → (group.pool === null || config === null) && target === null',
      NARROWS,
    ],
    ['haltOf', 'group.pool === null || config === null → false', NARROWS],
    ['haltOf', 'group.pool === null || config === null → group.pool === null && config === null', NARROWS],
    ['haltOf', 'group.pool === null → false', NARROWS],
    ['haltOf', 'config === null → false', NARROWS],
    ['haltOf', 'target === null → false', NARROWS],
    ['releaseOf', '\'\' → "Stryker was here!"', 'what has no time is not forgiven'],
    ['releaseOf', 'sha256 !== undefined → true', NARROWS],
  ],
  'reconciler/policy/rollout/holds/analysis.ts': [['analysisPending', 'group.pool?.spec → group.pool.spec', NARROWS]],
  'reconciler/policy/rollout/holds/base-refused.ts': [['baseRefused', 'base === undefined → false', NARROWS]],
  'reconciler/policy/rollout/holds/impossible.ts': [
    ['noConfigSource', 'member.target?.apply → member.target.apply', NARROWS],
  ],
  'reconciler/policy/rollout/membership.ts': [
    ['membershipOf', 'pool?.classes → pool.classes', NARROWS],
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
  'reconciler/policy/config-repo/decode-cache.ts': [
    ['decodeCache', '\'own\' → ""', UNREAD],
    ['decodeCache', '\'layer\' → ""', UNREAD],
  ],
  'reconciler/policy/config-repo/suspicious-values.ts': [
    ['isOfBytes', '[] → ["Stryker was here"]', 'what is not a map has no limits'],
    ['entriesOf', '[] → ["Stryker was here"]', 'no resource has that name'],
  ],
  'reconciler/policy/config-repo/judge-pool.ts': [
    ['poolJudge', '[] → ["Stryker was here"]', 'neither a version nor a code has that name'],
    ['poolJudge', 'positionOf === undefined → false', 'for the compiler: what is undefined counts as absent'],
  ],
  'reconciler/policy/config-repo/load-pool.ts': [
    ['judgeConfig', '`pools/${name}/pool.yaml` → ``', 'all that is found has the place of a layer'],
    ['judgeConfig', '[] → ["Stryker was here"]', 'nothing that is found has that code'],
    ['render', 'template === undefined → false', 'absent and undefined are the same to all who ask'],
    ['render', 'whole === undefined → false', 'the same is judged for each example, and said once'],
    [
      'render',
      'spec.tolerate === undefined → false',
      'where nothing is tolerated, no valid config has an unknown field',
    ],
    ['loadPool', '[] → ["Stryker was here"]', 'what is no layer has an error in it'],
    ['render', '[] → ["Stryker was here"]', 'where nothing is tolerated, no valid config has an unknown field'],
    ['unusedFiles', '[] → ["Stryker was here"]', 'a pool has its pool.yaml at least, or is not read'],
    ['configsByPool', '\'\' → "Stryker was here!"', NARROWS],
    ['configsByPool', 'known !== undefined → false', 'it only saves the look at every file'],
    ['loadPool', 'read.length < layers.length → false', 'what is no layer has an error in it'],
  ],
  'reconciler/policy/config-repo/load-repo.ts': [
    ['load', 'finding.file === undefined → false', 'git leaves out nothing without a path'],
    ['misnamedCluster', '\'\' → "Stryker was here!"', 'both names lose their ending alike'],
  ],
  'reconciler/policy/config-repo/read-cluster.ts': [
    ['readCluster', '\'\' → "Stryker was here!"', 'it is as little the name of a field'],
  ],
  'reconciler/policy/config-repo/verdict-cache.ts': [['createVerdictCache', 'oldest !== undefined → true', NARROWS]],
  'reconciler/policy/windows/cron.ts': [
    ['readCron', '\'\' → "Stryker was here!"', NARROWS],
    ['readCron', '!valid || parsed === undefined → !valid && parsed === undefined', NARROWS],
    ['readCron', 'parsed === undefined → false', NARROWS],
    ['numbersIn', "values.filter((value) => typeof value === 'number') → values", 'no day is a text'],
    ['numbersIn', "typeof value === 'number' → true", 'no day is a text'],
  ],
  'reconciler/policy/windows/days.ts': [
    ['matchesAnyDay', 'day < FIRST_OF_2000 + CALENDAR_DAYS → day <= FIRST_OF_2000 + CALENDAR_DAYS', 'a day more'],
  ],
  'reconciler/policy/windows/read-window.ts': [
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
  'reconciler/policy/windows/describe-windows.ts': [
    ['describeOpen', '[] → ["Stryker was here"]', 'where changes may begin, each layer has a window that is on'],
    [
      'earliest',
      'until(seen) < until(best) → until(seen) <= until(best)',
      'of two that change at once either is named',
    ],
  ],
  'reconciler/policy/windows/schedule.ts': [
    ['createSchedule', 'day >= end → day > end', 'the margin is a day too wide'],
    ['createSchedule', 'day <= end → day < end', 'the margin is a day too wide'],
  ],
  'reconciler/policy/windows/span.ts': [
    ['spanAt', 'joined < MOST_JOINED → joined <= MOST_JOINED', 'one window more is followed'],
    ['spanAt', 'start + durationMs → start - durationMs', 'it is looked again a little sooner'],
  ],
  'reconciler/policy/windows/windows-state.ts': [
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
  'reconciler/policy/windows/zone.ts': [
    ['zoneNamed', 'before === after → false', 'it only saves the look at the wall'],
  ],
  'reconciler/policy/templates/machine-class.ts': [
    ['classOf', '\'\' → "Stryker was here!"', NARROWS],
    ['nameOf', '\'bytes\' → ""', UNREAD],
    ['readSizes', 'size !== undefined → true', 'what is not there is not more than nothing'],
    ['writeSizes', '\'bytes\' → ""', UNREAD],
    ['classSize', 'had > 0 → had >= 0', 'a class that begins at nothing ends there'],
    ['classSize', 'had > 0 → true', 'a class that begins at nothing ends there'],
    ['classSize', 'had !== undefined → true', 'nothing is the lower end of no class'],
    [
      'classSize',
      'had !== undefined && had > 0 → had !== undefined || had > 0',
      'nothing is the lower end of no class',
    ],
    ['classSize', 'had !== undefined && had > 0 → true', 'nothing is the lower end of no class'],
    ['readSizes', '\'\' → "Stryker was here!"', 'it is as little a size'],
  ],
  'reconciler/policy/templates/machine-amount.ts': [
    ['readMachineAmount', 'size === undefined → false', NARROWS],
    ['wholeUnits', 'size < MEBIBYTE → size <= MEBIBYTE', 'one mebibyte is whole in bytes as well'],
  ],
  'reconciler/policy/templates/bounds.ts': [
    ['sizeIn', 'readMachineAmount(String(bound))?.size → readMachineAmount(String(bound)).size', NARROWS],
    ['sizeIn', 'bound === undefined → false', 'that is no amount either'],
    ['boundAmount', 'resource === undefined → false', 'a machine has nothing of that name'],
    ['readShare', 'share > 100 → false', 'no percentage is read that is out of its range'],
    ['readShare', 'share < 0 → false', 'no percentage is read that is out of its range'],
    ['unitOfKey', '\'bytes\' → ""', UNREAD],
  ],
  'reconciler/policy/templates/expression.ts': [
    ['valueOf', "case 'labels': return undefined; → case 'labels':", 'the same'],
    ['entryOf', 'value === undefined → false', 'a label without a value is as absent to CEL'],
    ['compile', '\'nothing\' → ""', NARROWS],
  ],
  'reconciler/policy/templates/expression-language.ts': [
    ['createLanguage', 'a > b → a >= b', 'of two that are equal either is the same'],
    ['createLanguage', 'a < b → a <= b', 'of two that are equal either is the same'],
  ],
  'reconciler/policy/templates/leaf.ts': [
    ['valueOfLeaf', 'resource !== undefined → true', 'a share of no resource is refused where it is read'],
  ],
  'reconciler/policy/templates/machine.ts': [
    ['machineOf', 'amount === undefined → false', 'what is not there is not more than nothing'],
    ['machineOf', '\'\' → "Stryker was here!"', 'it is as little a quantity'],
  ],
  'reconciler/policy/templates/template.ts': [
    ['fillTemplate', 'leaf === template.maxPods → false', 'maxPods is not computed from the pods of a node'],
    ['podsOf', "typeof usual === 'number' → true", NARROWS],
    ['podsOf', 'field === undefined → false', NARROWS],
    ['podsOf', 'written === undefined → true', 'a config whose maxPods is no number is not valid'],
    ['templateOf', "typeof maxPods === 'number' → true", 'what maxPods asks for is among all that is asked for'],
  ],
  'reconciler/policy/templates/over-reserved.ts': [
    ['overReserved', 'signal === undefined → false', 'no threshold has that name'],
  ],
  'reconciler/policy/config-repo/example-machines.ts': [
    ['examplePoolOf', 'pool.template === undefined → false', 'where nothing is computed, a class gets the pool itself'],
    ['judgeOnExamples', 'pool.template?.inputs → pool.template.inputs', NARROWS],
  ],
  'reconciler/policy/config-repo/pool-of-class.ts': [
    ['createClassifier', '!asksMore → false', 'it only saves that the node is sorted again'],
    ['createClassifier', 'present?.had === had → false', 'it only saves that the node is sorted again'],
    ['createClassifier', 'labels.length > 0 → labels.length >= 0', 'it only saves that the node is sorted again'],
    [
      'createClassifier',
      "labels.length > 0 || variables.has('arch') || variables.has('numaNodes') → true",
      'it only saves that the node is sorted again',
    ],
    ['createClassifier', '\'\' → "Stryker was here!"', 'it is as little a record of sizes'],
  ],
  'reconciler/policy/config-repo/read-computed.ts': [
    ['meantBy', '\'\' → "Stryker was here!"', 'no function is called like that either'],
    ['readComputed', 'name === undefined → false', 'absent and undefined are the same to all who ask'],
    ['sizeOf', 'readMachineAmount(String(bound))?.size → readMachineAmount(String(bound)).size', NARROWS],
    ['readBounds', '-1 → +1', 'what takes a resource is the second part of its path'],
    ['readComputed', '\'profile\' → ""', 'whatever a profile says is an expression'],
    ['readComputed', "['profile'] → []", 'whatever a profile says is an expression'],
  ],
  'reconciler/policy/config-repo/read-layer.ts': [
    ['readLayer', 'value === undefined → true', 'a KubeletConfiguration is of no other kind'],
  ],
  'reconciler/policy/payload-classes.ts': [
    ['NO_CONFIG', '\'\' → "Stryker was here!"', 'no config has that hash either'],
    [
      'classifyNodes',
      "pool.template?.inputs.variables.has('numaNodes') === true → true",
      'it only saves a copy of each node',
    ],
    ['classifyNodes', 'pool.template?.inputs → pool.template.inputs', NARROWS],
    ['UNKNOWN_CLASS', "{ sha256: NO_CONFIG, apply: 'overlay' } → {}", 'no node was told that either'],
    ['UNKNOWN_CLASS', '\'overlay\' → ""', 'no node was told its hash, in whatever mode'],
  ],
};

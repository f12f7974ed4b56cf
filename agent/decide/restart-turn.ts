import type { TurnRequest } from '#shared/contract/api/kubelet-node.ts';
import { turnForOldOrder } from './assignment/order.ts';
import { whyTurnNeededAfterAbsence } from './boot-guard.ts';
import { firstPhrases } from './first-phrases.ts';
import type { Observation } from './observation.ts';
import { type Config, nameOf, type State } from './state.ts';
import { unknownActive } from './unknown-active.ts';

/**
 * The restart that a node at rest needs although its assignment did not change; null for no restart. The kubelet
 * goes on as it is until the node has its turn.
 */
export function restartNeeded(state: State, seen: Observation): TurnRequest | null {
  const { doing, lastKnownGood } = state;
  if (doing.phase !== 'idle') return null;
  if (lastKnownGood === null) return afterLoss(state, seen);
  if (lastKnownGood.drift === 'report') return null;
  return overNewBase(state, lastKnownGood, seen) ?? awayFromOther(lastKnownGood, seen);
}

/**
 * The same, or the one before another trial of what the guard took back after a boot, or before an old order is followed. Known to
 * reconcilers by the word for a loss.
 */
export function turnNeeded(state: State, seen: Observation): TurnRequest | null {
  const { intent, fingerprint } = seen;
  const message = whyTurnNeededAfterAbsence(state, seen);
  if (message === undefined || intent.intent !== 'config')
    return turnForOldOrder(state, seen) ?? restartNeeded(state, seen);
  return { reason: 'StateLost', seen: fingerprint, config: intent.config.source.sha256, message };
}

/** Whether the API server grants this very restart. What it granted before the node changed is void. */
export const isTurnGranted = ({ seen }: TurnRequest, { intent }: Observation): boolean =>
  intent.intent === 'config' && intent.turn === seen;

function overNewBase({ refusedBase }: State, config: Config, { base, fingerprint }: Observation): TurnRequest | null {
  const { newer } = base;
  if (newer === null || !newer.changes || newer.sha256 === refusedBase?.sha256) return null;
  return {
    reason: 'NewBase',
    seen: fingerprint,
    base: newer.sha256,
    message: `the node's own kubelet config was changed: ${nameOf(config)} is tried over it in its turn, and runs over the one before until then`,
  };
}

/** A kubelet that was started with our files and runs something else anyway, would do so after a restart too. */
function awayFromOther(config: Config, seen: Observation): TurnRequest | null {
  const { files, running, service, startedAsInstalled, startWasSeen, fingerprint } = seen;
  if (files.files !== 'installed' || running.running === 'as-meant') return null;
  if (startedAsInstalled && startWasSeen) return null;
  if (running.running === 'unseen' && (startedAsInstalled || service.run === null)) return null;
  const what =
    running.running === 'contradicts'
      ? `it runs ${firstPhrases(running.differences)}`
      : `its files changed after its last start, and what it runs cannot be seen (${running.why})`;
  return {
    reason: 'RunningOther',
    seen: fingerprint,
    message: `the kubelet has to restart to load ${nameOf(config)}: ${what}`,
  };
}

/** The agent knows of no assignment, and the KubeletNode says that this one was carried out. */
function afterLoss(state: State, seen: Observation): TurnRequest | null {
  const [{ assigned, rejected }, { intent, fingerprint }] = [state, seen];
  // A turn would pass unused.
  if (unknownActive(state, seen)?.needsPerson === true) return null;
  if (assigned !== null || rejected.length > 0 || intent.intent !== 'config' || intent.isSpent !== true) return null;
  return {
    reason: 'StateLost',
    seen: fingerprint,
    config: intent.config.source.sha256,
    message: `the agent lost its state: ${nameOf(intent.config)} is installed and tried again in its turn`,
  };
}

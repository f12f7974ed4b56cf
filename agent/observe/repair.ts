import type { Millis } from '#shared/runtime/clock.ts';
import { hasDrifted } from '../decide/drift.ts';
import type { SeenFiles } from './files.ts';
import type { Memory } from './memory.ts';
import type { Intent, Repair, Running } from '../decide/observation.ts';
import { type StageOptions, stageConfig } from '../staging/stage.ts';
import { sameConfig, type State } from '../decide/state.ts';

/** How often within an hour files are put back. Whoever changes them more often means it, and is not fought. */
export const MOST_REPAIRS = 4;
const REPAIR_SPAN_MS = 60 * 60_000;

/** What of a node's look decides whether drift is repaired. */
export interface RepairQuestion {
  readonly state: State;
  readonly intent: Intent;
  readonly seenFiles: SeenFiles;
  readonly running: Running;
  /** Monotonic. */
  readonly startedAt: Millis;
}

/**
 * Says whether what drifted may be put back. What is put back is checked anew before: the node's own config under it, the
 * machine and the kubelet may be others than those that it was tried with.
 */
export function createRepairLook(memory: Memory, staging: StageOptions) {
  return async (
    { state, intent, seenFiles, running, startedAt }: RepairQuestion,
    signal: AbortSignal,
  ): Promise<Repair> => {
    const config = state.lastKnownGood;
    const { files, newBase } = seenFiles;
    if (state.doing.phase !== 'idle' || config === null || !hasDrifted({ files, running })) return { repair: 'none' };
    const wanted = intent.intent === 'config' && sameConfig(intent.config, config) ? intent.config : config;
    if (wanted.drift === 'report') return { repair: 'none' };
    const lately = memory.repairs.filter((at) => startedAt - at < REPAIR_SPAN_MS);
    if (lately.length >= MOST_REPAIRS) return { repair: 'paused', times: lately.length };
    const result = await stageConfig(config, staging, signal);
    switch (result.outcome) {
      case 'ready':
        return { repair: 'ready', newBase };
      case 'refused':
        return { repair: 'refused', failure: result.failure };
      case 'unavailable':
        return { repair: 'none' };
    }
  };
}

/** Follows whether the kubelet's present run began while its files were as they have to be. */
export interface StartTracker {
  tell(run: string | null, isInstalled: boolean): void;
  asInstalled(): boolean;
}

export function createStartTracker(): StartTracker {
  let known: { readonly run: string | null; readonly sound: boolean; readonly wasInstalled: boolean } | undefined;
  return {
    tell(run, isInstalled) {
      // A run that was not seen to begin, as at our own start, is taken to have read what is there.
      const isNew = known === undefined || known.run !== run || run === null;
      const sound = isNew ? isInstalled && (known?.wasInstalled ?? true) : (known?.sound ?? isInstalled);
      known = { run, sound, wasInstalled: isInstalled };
    },
    asInstalled: () => known?.sound ?? false,
  };
}

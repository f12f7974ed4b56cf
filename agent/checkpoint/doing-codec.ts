import type { Change, Doing, Judged, KubeletRun, State, NodePressure } from '../decide/state.ts';
import { termsToSpec } from '../decide/assignment/terms.ts';
import { decodeTarget, decodeTerms, encodeTarget } from './config-codec.ts';
import {
  amountIn,
  asRecord,
  checkStamp,
  damagedRecord,
  flagIn,
  optionalText,
  parseRaw,
  type Raw,
  stampOf,
  textIn,
  textsIn,
  wordIn,
} from '../host/record-shape.ts';

/** What a node is in the middle of, as `meta/trial` holds it. @returns null for idle: then there is no file */
export function encodeDoing(doing: State['doing'], node: string): string | null {
  if (doing.phase === 'idle') return null;
  return `${JSON.stringify({ ...stampOf(node), ...rawOf(doing) }, null, 2)}\n`;
}

function rawOf(doing: Exclude<Doing, { phase: 'idle' }>): Raw {
  switch (doing.phase) {
    case 'trial':
      return { ...doing, config: encodeTarget(doing.config) };
    case 'falling-back':
      return { ...doing, to: encodeTarget(doing.to), terms: termsToSpec(doing.terms) };
    case 'broken':
      return { ...doing };
  }
}

/** @throws CHECKPOINT_DAMAGED, STATE_UNREADABLE */
export function decodeDoing(text: string, node: string): Doing {
  const raw = checkStamp(parseRaw(text), node);
  const phase = wordIn(raw, 'phase', ['trial', 'falling-back', 'broken']);
  switch (phase) {
    case 'trial': {
      const config = decodeTarget(raw['config']);
      if (config === null) throw damagedRecord('config is missing');
      return {
        phase,
        config,
        since: textIn(raw, 'since'),
        wasReady: flagIn(raw, 'wasReady'),
        wasHealthy: flagIn(raw, 'wasHealthy'),
        ...(raw['minor'] === undefined ? {} : { minor: amountIn(raw, 'minor') }),
        before: runIn(raw['before']) ?? null,
        strain: strainIn(asRecord(raw['strain'], 'strain')),
        ...(raw['boots'] === undefined ? {} : { boots: amountIn(raw, 'boots') }),
        ...(raw['unwatched'] === undefined ? {} : { unwatched: amountIn(raw, 'unwatched') }),
        warnings: textsIn(raw, 'warnings'),
        change: changeIn(raw),
      };
    }
    case 'falling-back': {
      const because = wordIn(raw, 'because', ['failed', 'unassigned', 'superseded', 'drifted']);
      return { phase, to: decodeTarget(raw['to']), because, terms: decodeTerms(raw['terms']), change: changeIn(raw) };
    }
    case 'broken':
      return { phase, judged: judgedIn(raw), waitedMs: amountIn(raw, 'waitedMs') };
  }
}

function changeIn(doing: Raw): Change {
  const raw = asRecord(doing['change'], 'change');
  const step = wordIn(raw, 'step', ['install', 'restart', 'reboot', 'judge']);
  switch (step) {
    case 'install': {
      const running = runIn(raw['running']);
      return { step, ...(running === undefined ? {} : { running }), ...spentIn(raw) };
    }
    case 'restart':
      return {
        step,
        runBefore: optionalText(raw, 'runBefore') ?? null,
        bootId: textIn(raw, 'bootId'),
        orders: amountIn(raw, 'orders'),
        waitedMs: amountIn(raw, 'waitedMs'),
        ...spentIn(raw),
      };
    case 'reboot':
      return {
        step,
        bootId: textIn(raw, 'bootId'),
        orders: amountIn(raw, 'orders'),
        waitedMs: amountIn(raw, 'waitedMs'),
      };
    case 'judge':
      return { step, judged: judgedIn(raw) };
  }
}

const spentIn = (raw: Raw): { readonly spentMs?: number } =>
  raw['spentMs'] === undefined ? {} : { spentMs: amountIn(raw, 'spentMs') };

function runIn(value: unknown): KubeletRun | undefined {
  if (value === undefined || value === null) return undefined;
  const raw = asRecord(value, 'run');
  return { run: textIn(raw, 'run'), bootId: textIn(raw, 'bootId') };
}

function strainIn(raw: Raw): NodePressure {
  const counted = (name: string) => {
    const counts = raw[name] === null ? null : asRecord(raw[name], name);
    return counts && Object.fromEntries(Object.keys(counts).map((key) => [key, amountIn(counts, key)]));
  };
  return {
    pressures: raw['pressures'] === null ? null : textsIn(raw, 'pressures'),
    outOfMemory: counted('outOfMemory'),
    pods: counted('pods'),
    bootId: textIn(raw, 'bootId'),
  };
}

function judgedIn(holder: Raw): Judged {
  const raw = asRecord(holder['judged'], 'judged');
  return {
    bootId: textIn(raw, 'bootId'),
    run: optionalText(raw, 'run') ?? null,
    automaticRestarts: raw['automaticRestarts'] === null ? null : amountIn(raw, 'automaticRestarts'),
    restarts: amountIn(raw, 'restarts'),
    healthyMs: amountIn(raw, 'healthyMs'),
    unhealthyMs: amountIn(raw, 'unhealthyMs'),
    ...(raw['isStarting'] === true ? { isStarting: true } : {}),
    ...(raw['outageMs'] === undefined ? {} : { outageMs: amountIn(raw, 'outageMs') }),
    healthy: flagIn(raw, 'healthy'),
    everHealthy: flagIn(raw, 'everHealthy'),
    lapses: amountIn(raw, 'lapses'),
  };
}

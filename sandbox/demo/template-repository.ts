import { isSeq, parseDocument } from 'yaml';
import { readFolder } from '#cli/program-files.ts';
import { parseDuration } from '#shared/runtime/duration.ts';

/** Spans of the sandbox: what takes minutes on real nodes takes seconds here. */
export interface Spans {
  readonly trial: string;
  readonly startTimeout: string;
  readonly soak: string;
}

export const SHORTENED: Spans = { trial: '3s', startTimeout: '30s', soak: '1s' };

/**
 * The files of config-repo-template, with trials and soaks shortened, and without windows, so that a story takes a minute and
 * not a night.
 */
export async function templateFiles(spans: Spans = SHORTENED): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const [path, text] of await readFolder('config-repo-template')) {
    files[path] = path.endsWith('/pool.yaml')
      ? shorten(text, spans)
      : path.startsWith('clusters/')
        ? withShortTrials(text, spans)
        : text;
  }
  return files;
}

function shorten(text: string, spans: Spans): string {
  const pool = parseDocument(text);
  pool.setIn(['spec', 'rollout', 'soak'], spans.soak);
  // Steps soak as long as the rest; and a story does not wait for the morning.
  const steps = pool.getIn(['spec', 'rollout', 'steps']);
  const stepSoaks = isSeq(steps) ? steps.items.map((_, index) => ['steps', index, 'soak']) : [];
  for (const path of [['canary', 'soak'], ['windows'], ...stepSoaks]) {
    if (pool.hasIn(['spec', 'rollout', ...path])) pool.deleteIn(['spec', 'rollout', ...path]);
  }
  pool.setIn(['spec', 'trial', 'duration'], spans.trial);
  pool.setIn(['spec', 'trial', 'startTimeout'], spans.startTimeout);
  pool.setIn(['spec', 'trial', 'maxRestarts'], 1);
  return pool.toString();
}

/** A cluster's file lets no pool have trials of less than a minute, unless it says so. */
const withShortTrials = (text: string, { trial }: Spans): string =>
  (parseDuration(trial) ?? 0) >= 60_000 ? text : `${text.trimEnd()}\n\n  trial: {minDuration: ${trial}}\n`;

/** A KubeletConfiguration file with fields set, comments kept: the edit that a person would make. */
export function withFields(text: string, fields: Readonly<Record<string, unknown>>): string {
  const config = parseDocument(text);
  for (const [field, value] of Object.entries(fields)) config.set(field, value);
  return config.toString();
}

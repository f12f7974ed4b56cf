import type { Decision } from '../decide/decision.ts';
import { activeOf, type Config, nameOf, type State } from '../decide/state.ts';

/** One line for the log. The node is on every line already. */
export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Comes again with every try. */
export const FETCHING = 'fetching config';

/** What a decision means to the people who read logs: a line for every change of phase and every order, none for a look. */
export function transitionLines(before: State, { next, actions }: Decision): readonly LogLine[] {
  const lines: LogLine[] = [];
  const from = before.doing.phase;
  const to = next.doing.phase;
  const about = subjectOf(next) ?? subjectOf(before);
  if (from !== to || nameOf(activeOf(before)) !== nameOf(activeOf(next))) {
    const level = to === 'broken' ? 'error' : to === 'falling-back' ? 'warn' : 'info';
    const active = nameOf(activeOf(next));
    lines.push({ level, message: 'phase changed', fields: { from, to, active, ...fieldsOf(about), ...whyOf(next) } });
  } else if (next.error !== null && next.error !== before.error && next.error.reason !== before.error?.reason) {
    lines.push({ level: 'warn', message: 'assignment not taken up', fields: { ...fieldsOf(about), ...whyOf(next) } });
  }
  if (timesUnwatched(next) > timesUnwatched(before)) {
    lines.push({
      level: 'warn',
      message: 'the guard took the trial back without a verdict: it begins again',
      fields: fieldsOf(about),
    });
  }
  for (const action of actions) {
    if (action.do === 'stage') lines.push({ level: 'info', message: FETCHING, fields: fieldsOf(action.config) });
    if (action.do !== 'restart-kubelet' && action.do !== 'start-kubelet') continue;
    lines.push({
      level: 'info',
      message: action.do === 'start-kubelet' ? 'starting kubelet' : 'restarting kubelet',
      fields: { because: action.because, ...fieldsOf(about) },
    });
  }
  return lines;
}

const timesUnwatched = ({ doing }: State): number => (doing.phase === 'trial' ? (doing.unwatched ?? 0) : 0);

/** The config that a line is about: the one on trial, or else the one assigned. */
const subjectOf = ({ doing, assigned }: State): Config | null => (doing.phase === 'trial' ? doing.config : assigned);

function fieldsOf(config: Config | null): Readonly<Record<string, unknown>> {
  if (config === null) return { config: nameOf(null) };
  const { pool, commit } = config;
  return {
    config: nameOf(config),
    ...(pool === undefined ? {} : { pool }),
    ...(commit === undefined ? {} : { commit }),
  };
}

const whyOf = ({ error }: State): Readonly<Record<string, unknown>> =>
  error === null ? {} : { reason: error.reason, why: error.message };

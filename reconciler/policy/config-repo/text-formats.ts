import { parseDuration } from '#shared/runtime/duration.ts';
import {
  cronProblems,
  LONGEST_SPAN_MS,
  spanProblems,
  type WindowProblem,
  zoneProblems,
} from '../windows/read-window.ts';
import { readShare } from '../templates/bounds.ts';
import { readMachineAmount } from '../templates/machine-amount.ts';
import type { Says } from './schema-node.ts';

interface TextFormat {
  /** What is wrong with a text that its schema has nothing against, or only its pattern; undefined where nothing is. */
  readonly problem?: (text: string) => Says | undefined;
  /** The text as it counts. */
  readonly read?: (text: string) => string;
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

const inWindow = (check: (text: string) => readonly WindowProblem[]): TextFormat => ({
  problem: (text) => check(oneLine(text)).map(({ code, message, suggestion }): Says => [code, message, suggestion])[0],
  read: oneLine,
});

/** What a schema names as `x-format`. */
export const TEXT_FORMATS: Readonly<Record<string, TextFormat>> = {
  line: { read: oneLine },
  amount: { read: (text) => `${Number.parseInt(text, 10)}%` },
  span: {
    problem: (text) =>
      (parseDuration(text) ?? 0) > LONGEST_SPAN_MS
        ? ['bad-duration', '{at} is {value}, which is longer than 366 days (8784h)', 'write it as 90s, 10m or 1h30m']
        : undefined,
  },
  cron: inWindow(cronProblems),
  'window-span': inWindow(spanProblems),
  'time-zone': inWindow(zoneProblems),
  quantity: {
    problem: (text) =>
      readMachineAmount(text) === undefined
        ? ['bad-quantity', '{at} is not a valid quantity', 'write an amount such as 255Mi']
        : undefined,
  },
  share: {
    problem: (text) =>
      readShare(text) === undefined ? ['wrong-type', '{at} has to be a share of the machine', 'write 25%'] : undefined,
  },
  'prometheus-url': { problem: problemOfUrl, read: oneLine },
};

function problemOfUrl(text: string): Says | undefined {
  const wrong = (what: string): Says => ['bad-url', what, 'write it as http://prometheus.monitoring:9090'];
  const url = URL.canParse(oneLine(text)) ? new URL(oneLine(text)) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return wrong('the url of prometheus is not an http or https address');
  if (url.username !== '' || url.password !== '')
    return wrong('the url of prometheus holds credentials: everybody who reads the repository has them');
  return url.search === '' && url.hash === '' ? undefined : wrong('the url of prometheus has a query or a fragment');
}

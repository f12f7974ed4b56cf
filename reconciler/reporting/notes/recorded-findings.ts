import { type Finding, formatFinding } from '#shared/contract/finding.ts';

/** The record is for people: what is beyond this many lines is in the log. */
const MOST_LINES = 20;

/**
 * What is wrong in the commit in force as the record has it, a line each. Warnings come last: a reader of the first lines only
 * has to see that there is more than those. Pure.
 *
 * @param leftAlone remarks on nodes that must not be changed, because the commit's pools do not say which pool they belong to
 */
export function writeFindings(findings: readonly Finding[], leftAlone: readonly string[]): string {
  const { error = [], warning = [] } = Object.groupBy(findings, ({ severity }) => severity);
  const lines = [...error.map(formatFinding), ...leftAlone, ...warning.map(formatFinding)];
  return lines.slice(0, MOST_LINES).join('\n');
}

/** @param text `findings` of the record */
export const readFindings = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

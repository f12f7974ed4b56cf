import { ARCH_LABEL } from './templates/machine.ts';
import type { DesiredPool } from './desired.ts';
import type { NodeView } from './fleet.ts';

type Labels = NodeView['labels'];

/** The labels that the expressions of a pool name; empty where none does. */
export function labelsAsked(pool: Pick<DesiredPool, 'inGit'> | undefined): readonly string[] {
  const { variables, labels = [] } = pool?.inGit?.template?.inputs ?? {};
  return variables?.has('arch') === true ? [...labels, ARCH_LABEL] : labels;
}

/** `example.com/tier=gold,!example.com/gpu`: neither names nor values of labels have one of these characters. */
export const writeClassLabels = (names: readonly string[], labels: Labels): string =>
  names.map((name) => (Object.hasOwn(labels, name) ? `${name}=${labels[name] ?? ''}` : `!${name}`)).join(',');

/**
 * Which of the labels that were kept have another value now, or are gone, or are new.
 *
 * @param kept as `writeClassLabels` wrote it
 * @param names those that the expressions name now: others tell nothing any more
 */
export function changedLabels(kept: string, names: readonly string[], labels: Labels): readonly string[] {
  const entries = kept.split(',').flatMap((entry): readonly (readonly [string, string | undefined])[] => {
    if (entry.startsWith('!')) return [[entry.slice(1), undefined]];
    const end = entry.indexOf('=');
    return end < 0 ? [] : [[entry.slice(0, end), entry.slice(end + 1)]];
  });
  const before = new Map(entries);
  return names.filter((name) => {
    const now = Object.hasOwn(labels, name) ? labels[name] : undefined;
    return before.has(name) && before.get(name) !== now;
  });
}

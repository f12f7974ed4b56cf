import type { ClassStatus } from '#shared/contract/api/kubelet-pool.ts';

/** A class of machines in one line: `cpu=4,memory=15872Mi: 2 of 3 nodes run general-2m9t8b4kfd`. */
export function formatClass({ name, nodes, updated, configName, message = '' }: ClassStatus): string {
  const of = name === '' ? 'other machines' : name;
  const counted = nodes === 1 ? '1 node' : `${nodes} nodes`;
  if (configName === undefined) {
    return `${of}: ${counted} ${nodes === 1 ? 'keeps what it has' : 'keep what they have'}: ${message}`;
  }
  if (updated === undefined) return `${of}: ${counted} to run ${configName}`;
  return `${of}: ${updated} of ${counted} ${nodes === 1 ? 'runs' : 'run'} ${configName}`;
}

/** Whether there is no config for the class, so its nodes keep what they have. */
export const hasNoConfig = ({ configName }: Pick<ClassStatus, 'configName'>): boolean => configName === undefined;

/** Whether all its nodes run their config, as far as the status says. */
export const isClassDone = ({ nodes, updated = nodes, configName }: ClassStatus): boolean =>
  configName !== undefined && updated === nodes;

/** The classes by urgency: held ones first, then unfinished ones, then the others, each the largest first. */
export const byUrgency = (classes: readonly ClassStatus[]): readonly ClassStatus[] =>
  [...classes].sort((a, b) => need(a) - need(b));

const need = (each: ClassStatus): number => (hasNoConfig(each) ? 0 : isClassDone(each) ? 2 : 1);

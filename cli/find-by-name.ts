import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { UsageError } from './command.ts';

/** The object of that name. @throws Mistake where the cluster has none, with the name that may be meant */
export function findByName<T extends { readonly metadata: { readonly name: string } }>(
  what: string,
  all: readonly T[],
  name: string,
): T {
  const found = all.find(({ metadata }) => metadata.name === name);
  if (found !== undefined) return found;
  const names = [...new Set(all.map(({ metadata }) => metadata.name))];
  const meant = didYouMean(name, names);
  const few = names.length > 20 ? `${names.slice(0, 20).join(', ')} …` : names.join(', ');
  throw new UsageError(
    `the cluster has no ${what} ${name}${meant === undefined ? `; it has ${few || 'none'}` : ` (did you mean ${meant}?)`}`,
  );
}

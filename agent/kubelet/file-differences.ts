import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a kubelet reads otherwise in the files that are there than in those that were installed, a phrase a field:
 * `maxPods=33 instead of 110`; what is gone comes last, as there only the first few are told. Of fields that were added only the name: nobody checked what is in them.
 */
export function fileDifferences(wanted: Fields, there: Fields, version: string | undefined): readonly string[] {
  const added = Object.keys(there).filter((field) => !Object.hasOwn(wanted, field));
  const { changed = [], gone = [] } = Object.groupBy(contradictions(wanted, there, version), (phrase) =>
    phrase.includes('=nothing instead of ') ? 'gone' : 'changed',
  );
  return [...changed, ...added.map((field) => `${field}, which was not set`), ...gone];
}

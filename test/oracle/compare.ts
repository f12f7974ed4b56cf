import type { OracleAnswer } from './ask-oracle.ts';
import { effectiveDifferences } from './effective.ts';
import { fieldDifferences } from './faults.ts';
import type { OwnVerdict } from './own-verdict.ts';

/**
 * Where we and the kubelet are not of one mind about a file; empty where we are. One phrase each, ours first.
 *
 * @param minor of the kubelet that was asked
 */
export function differences(ours: OwnVerdict, theirs: OracleAnswer, minor: number): readonly string[] {
  if (isDoubled(ours, theirs)) return [];
  const verdict = verdictDifference(ours, theirs);
  if (verdict !== undefined) return [verdict];
  return [...fieldDifferences(ours, theirs), ...effectiveDifferences(ours, theirs, minor)];
}

function verdictDifference(ours: OwnVerdict, theirs: OracleAnswer): string | undefined {
  const isRefused = theirs.verdict.startsWith('reject');
  const exits = theirs.start.length > 0;
  const said = isRefused ? `${theirs.verdict}: ${theirs.faults.join('; ')}` : theirs.verdict;
  if (isRefused !== (ours.word === 'reject')) {
    // What the kubelet finds at its start only is as good a reason for us to refuse a file.
    if (!isRefused && exits) return undefined;
    return `${ours.word} here, and ${said} there`;
  }
  if (isRefused) return undefined;
  if (exits && ours.late.length === 0) return `starts here, and exits there: ${theirs.start.join('; ')}`;
  if (!exits && ours.late.length > 0) return `exits here, and starts there`;
  return ours.word === theirs.verdict ? undefined : `${ours.word} here, and ${said} there: ${theirs.strict}`;
}

/**
 * Of a key that a file has twice, we read the last value, and what JSON cannot hold wherever it stands. The kubelet reads both in a JSON file,
 * and nothing but the last in YAML. Either way the double itself is found here, or the file is refused.
 */
function isDoubled({ dropping, refusing }: OwnVerdict, { verdict, faults, strict }: OracleAnswer): boolean {
  const isFoundHere = dropping.some(({ code }) => code === 'duplicate-key');
  if (verdict === 'reject:load') return isFoundHere && faults.some((fault) => fault.includes('cannot unmarshal'));
  return strict.includes('already set in map') && refusing.some(({ code }) => code === 'number-not-finite');
}

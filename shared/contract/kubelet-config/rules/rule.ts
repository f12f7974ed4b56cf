import type { Severity } from '../../finding.ts';
import type { Path } from '../position.ts';
import type { ConfigView } from '../config-view.ts';

/** What a rule has against a config. */
export interface Complaint {
  readonly code: string;
  /** Default `error`. */
  readonly severity?: Severity;
  readonly at: Path;
  /** One sentence without a full stop. */
  readonly message: string;
  readonly suggestion?: string;
  /**
   * Other fields (`featureGates.X` for a gate) whose values the complaint rests on. Where the config is an overlay and
   * leaves one of them to the node's own config, the complaint is only a warning.
   */
  readonly restsOn?: readonly string[];
}

/** One thing that kubelets ask of a config beyond types: pure, and silent about versions that do not ask it. */
export type Rule = (config: ConfigView) => Iterable<Complaint>;

/** The path of a field in a struct: `memorySwap.swapBehavior`. */
export const at = (path: string): Path => path.split('.');

/** `a, b or c`. */
export const oneOf = (words: readonly string[]): string => joined(words, 'or');

/** `a, b and c`. */
export const allOf = (words: readonly string[]): string => joined(words, 'and');

function joined(words: readonly string[], last: string): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** Complaint that a field needs a feature gate which is off. */
export function needsGate(path: string, gate: string, what = path): Complaint {
  return {
    code: 'gate-off',
    at: at(path),
    message: `${what} needs the feature gate ${gate}, which is off`,
    suggestion: `set featureGates.${gate}: true, or leave it out`,
    restsOn: [`featureGates.${gate}`],
  };
}

import type { Complaint } from './rule.ts';

/** What does not mean in an overlay what it seems to mean. */
export function* judgeOverlay(config: Readonly<Record<string, unknown>>): Generator<Complaint> {
  if (config['evictionHard'] === null) {
    yield {
      code: 'eviction-switched-off',
      at: ['evictionHard'],
      message:
        'over a node’s own config, null does not restore the default thresholds: the kubelet then has none at all',
      suggestion: 'write the thresholds out that you want',
    };
  }
  if (config['mergeDefaultEvictionSettings'] === true) {
    yield {
      code: 'no-effect',
      severity: 'warning',
      at: ['mergeDefaultEvictionSettings'],
      message: 'over a node’s own config it does nothing: the default thresholds are merged before',
      suggestion: 'write the thresholds out that you want',
    };
  }
}

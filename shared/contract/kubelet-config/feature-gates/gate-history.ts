export type GateStage = 'alpha' | 'beta' | 'ga' | 'deprecated';

/** What one minor version makes of a gate. */
export interface GateSpec {
  readonly stage: GateStage;
  readonly default: boolean;
  readonly locked: boolean;
}

export interface GateSpan {
  /** First minor that it holds for. */
  readonly from: number;
  /** null: the kubelet does not know the gate any more. */
  readonly spec: GateSpec | null;
}

/**
 * Reads a gate's life from 1.20 on, a line of text: `20 alpha, 24 beta, 28 ga locked, 30 gone`.
 *
 * Each part says what is true from that minor on, written without its `1.`: there are hundreds, and every node has them
 * in memory. Alpha and deprecated gates are off by default, beta and ga ones on, unless `on` or `off` says otherwise.
 * `locked`: setting it to anything but its default is fatal. `gone`: setting it at all is fatal. A line that starts later
 * than 1.20 belongs to a gate that earlier kubelets do not know. Some gates changed within a minor: the line says what its
 * newest patch release does.
 */
export function parseHistory(line: string): readonly GateSpan[] {
  return line.split(', ').map((part) => {
    const [minor = '', stage = '', ...rest] = part.split(' ');
    const from = Number(minor);
    if (stage === 'gone') return { from, spec: null };
    const byDefault = stage === 'beta' || stage === 'ga';
    const isDefault = rest.includes('on') || (byDefault && !rest.includes('off'));
    return { from, spec: { stage: stage as GateStage, default: isDefault, locked: rest.includes('locked') } };
  });
}

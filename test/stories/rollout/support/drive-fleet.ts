import type { FleetSimulation } from '../../../support/fleet-simulation.ts';

/** So many minutes, in each of which everybody takes a turn: so many rounds. */
export function minutes(fleet: FleetSimulation, count: number, rounds = 2): void {
  for (let minute = 0; minute < count; minute += 1) {
    fleet.rounds(rounds);
    fleet.now += 60_000;
  }
}

/** What the reconciler does next to nodes, each as `step node`. */
export const steps = (fleet: FleetSimulation): readonly string[] =>
  fleet.reconcile().steps.flatMap((step) => {
    if (step.step === 'assign' || step.step === 'amend') return [`${step.step} ${step.node.metadata.name}`];
    const isOfPods = step.step === 'cordon' || step.step === 'uncordon' || step.step === 'evict';
    return isOfPods || step.step === 'count-pods' ? [`${step.step} ${step.node}`] : [];
  });

import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Occurrence, Subject } from './occurrence.ts';

/** All that can be told of a pool from its status as it is now, whether or not it was told before. Pure. */
export function occurrencesOfPool(name: string, uid: string, status: KubeletPoolStatus): readonly Occurrence[] {
  const about: Subject = { kind: 'KubeletPool', name, uid };
  const { halt, configName: config = '', sha256 = '', counts } = status;
  const base = { about, pool: name, config };
  const all: Occurrence[] = [];
  if (halt !== undefined) {
    const happening = halt.action === 'revert' ? 'RolloutReverting' : 'RolloutHalted';
    const identity = `halted ${halt.sha256} ${halt.at}`;
    all.push({ ...base, happening, type: 'Warning', note: halt.message, at: halt.at, identity });
  }
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (status.phase === 'Settled' && ready?.status === 'True' && config !== '') {
    const nodes = counts?.nodes ?? 0;
    const note =
      nodes === 1
        ? `The one node runs ${config} and has proved it`
        : `All ${nodes} nodes run ${config} and have proved it`;
    const identity = `settled ${sha256} ${ready.lastTransitionTime}`;
    all.push({ ...base, happening: 'RolloutSettled', type: 'Normal', note, at: ready.lastTransitionTime, identity });
  }
  const waiting = status.holds?.find(({ reason }) => BUDGETS.includes(reason));
  if (waiting !== undefined) {
    const who = waiting.nodes === 1 ? '1 node waits for its turn' : `${waiting.nodes} nodes wait for their turn`;
    const note = `${who}: ${waiting.message}`;
    all.push({ ...base, happening: 'RateLimited', type: 'Normal', note, identity: `rate-limited ${sha256}` });
  }
  return all;
}

/** Of the pool, of a zone in it, of the whole cluster. */
const BUDGETS: readonly string[] = ['budget', 'zone-budget', 'overall-budget'];

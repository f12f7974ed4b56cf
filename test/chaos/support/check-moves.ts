import { isDeepStrictEqual } from 'node:util';
import { type KubeletNode, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import type { Version } from './etcd-history.ts';

/** What a history of KubeletNodes comes to in a world in which nodes join, leave, lose labels and are rewritten. */
export interface Moves {
  /** Times that a node was told to restart its kubelet, or to try a config: by node. */
  readonly turns: ReadonlyMap<string, number>;
  /** Configs, and own configs, that a node took back: by node. */
  readonly takenBack: ReadonlyMap<string, number>;
  /** Most nodes of a pool in a change at once, those that never had proven anything left out. */
  readonly mostAtOnce: number;
  /** Nodes that were ever told a config, by config. */
  readonly told: ReadonlyMap<string, ReadonlySet<string>>;
  /** What must not be; empty where all is well. */
  readonly wrongs: readonly string[];
}

/** @param allowed nodes of one pool that may be in a change at once */
export function checkMoves(versions: readonly Version<KubeletNode>[], allowed: number): Moves {
  const present = new Map<string, KubeletNode>();
  const turns = new Map<string, number>();
  const takenBack = new Map<string, number>();
  const told = new Map<string, Set<string>>();
  const busy = new Map<string, string>();
  const proved = new Set<string>();
  const wrongs: string[] = [];
  let mostAtOnce = 0;

  for (const { name, object, revision } of versions) {
    const at = `${name} at revision ${revision}`;
    const before = present.get(name);
    if (object === null) {
      present.delete(name);
      busy.delete(name);
      proved.delete(name);
      continue;
    }
    present.set(name, object);
    const { spec, status } = object;
    const config = configOf(object);
    if (config !== configOf(before)) {
      add(turns, name);
      if (config === LOCAL) wrongs.push(`${at} lost its config`);
      told.set(config, (told.get(config) ?? new Set()).add(name));
    } else if (spec?.turn !== undefined && spec.turn.seen !== before?.spec?.turn?.seen) {
      add(turns, name);
    } else if (before !== undefined && !isDeepStrictEqual(before.spec, spec) && before.spec?.pool === spec?.pool) {
      if (before.spec?.commit !== spec?.commit) wrongs.push(`the spec of ${at} was written for nothing`);
    }
    const [wasBack, isBack] = [backsOf(before), backsOf(object)];
    if (isBack > wasBack) add(takenBack, name);
    if (status?.lastKnownGood !== undefined && status.lastKnownGood.name !== LOCAL) proved.add(name);
    if (!isChanging(object)) busy.delete(name);
    else if (proved.has(name)) busy.set(name, spec?.pool ?? '');
    const inPool = [...busy.values()].filter((pool) => pool === spec?.pool).length;
    mostAtOnce = Math.max(mostAtOnce, inPool);
    if (inPool > allowed) wrongs.push(`${inPool} nodes of ${spec?.pool} are in a change, ${allowed} may be: ${at}`);
  }
  return { turns, takenBack, mostAtOnce, told, wrongs };
}

/** @param starts of each kubelet that nobody but its agent ordered */
export function unorderedStarts({ turns, takenBack }: Moves, starts: ReadonlyMap<string, number>): readonly string[] {
  return [...starts].flatMap(([name, count]) => {
    const most = (turns.get(name) ?? 0) + (takenBack.get(name) ?? 0);
    return count > most ? [`the kubelet of ${name} was restarted ${count} times, and had ${most} turns`] : [];
  });
}

const configOf = (node: KubeletNode | undefined): string => node?.spec?.configSource?.name ?? LOCAL;

const backsOf = ({ status }: Pick<KubeletNode, 'status'> = {}): number =>
  (status?.rejected?.length ?? 0) + (status?.refusedBase ? 1 : 0);

function isChanging(node: KubeletNode): boolean {
  const { spec, status } = node;
  const isGranted = spec?.turn !== undefined && spec.turn.seen === status?.awaitsTurn?.seen;
  const isRejected = status?.rejected?.some(({ name }) => name === configOf(node)) === true;
  const isToldOther = configOf(node) !== (status?.lastKnownGood?.name ?? LOCAL) && !isRejected;
  const isAtWork = status?.phase === 'Trial' || status?.phase === 'FallingBack' || status?.phase === 'Staging';
  return isGranted || isToldOther || isAtWork;
}

const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

import type { Report } from '../json.ts';
import { Unreadable } from './scalar.ts';

/** How many aliases and nodes a config may sensibly need. */
const USUAL_ALIASES = 100;
const USUAL_NODES = 20_000;

interface AliasMeter {
  /** A node is read. */
  count(offset: number): void;
  /** What an alias stands for begins, and ends. */
  enter(offset: number): void;
  leave(): void;
}

/**
 * go-yaml's guard against aliases that multiply: among many nodes, only so many may come from aliases. What is below
 * that and still more than a config needs is reported, and read.
 */
export function aliasMeter(report: Report): AliasMeter {
  let nodes = 1;
  let fromAliases = 0;
  let depth = 0;
  let aliases = 0;
  let isReported = false;

  function warn(offset: number): void {
    if (isReported || (aliases <= USUAL_ALIASES && nodes <= USUAL_NODES)) return;
    isReported = true;
    const what = nodes > USUAL_NODES ? `${USUAL_NODES} values, aliases followed` : `${USUAL_ALIASES} aliases`;
    report('many-aliases', offset, `the file has more than ${what}`, 'write less');
  }

  return {
    count(offset) {
      nodes += 1;
      if (depth > 0) fromAliases += 1;
      if (fromAliases > 100 && nodes > 1000 && fromAliases / nodes > allowedShare(nodes))
        throw new Unreadable('yaml-alias', offset, 'the aliases make the file grow out of all proportion');
      warn(offset);
    },
    enter(offset) {
      depth += 1;
      aliases += 1;
      warn(offset);
    },
    leave() {
      depth -= 1;
    },
  };
}

/** 99% up to 400,000 nodes, from there down to 10% at ten times as many. */
function allowedShare(nodes: number): number {
  const excess = Math.min(Math.max(nodes - 400_000, 0) / 3_600_000, 1);
  return 0.99 - 0.89 * excess;
}

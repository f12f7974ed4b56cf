/** What came of asking one pool's blockers. */
export interface BlockersAnswer {
  /** Nothing holds the whole pool. */
  readonly quiet: boolean;
  /** Why it is not, or that it is. */
  readonly because: string;
  /** By name, the nodes that have a pod which must not run while they are changed, and which pod; absent where none has. */
  readonly busy?: ReadonlyMap<string, string>;
}

export const QUIET: BlockersAnswer = { quiet: true, because: 'everything that has to be quiet is' };

export const blocked = (because: string): BlockersAnswer => ({ quiet: false, because });

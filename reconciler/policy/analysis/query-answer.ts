import type { Millis } from '#shared/runtime/clock.ts';
import type { MeasuresSource } from '#shared/contract/api/prometheus-queries.ts';

/** What a query says of one node; `several`: more than one series has its name. `none`: not a finite number of at least 0. */
export type NodeNumber = number | 'several' | 'none';

/** What came of asking one query of a pool's analysis. */
export type QueryAnswer =
  /** By node: as it was before the change, and as it is. */
  | { readonly before: ReadonlyMap<string, NodeNumber>; readonly now: ReadonlyMap<string, NodeNumber> }
  /** The one number that it is now. */
  | { readonly value: number }
  /** `missing`: why nothing can be said. */
  | { readonly missing: string };

/** By the name of its query. */
export type QueryAnswers = ReadonlyMap<string, QueryAnswer>;

/** A pool whose queries matter now. */
export interface QueriedPool {
  readonly name: string;
  readonly source: MeasuresSource;
  /** When no canary had the payload yet. */
  readonly before: Millis;
}

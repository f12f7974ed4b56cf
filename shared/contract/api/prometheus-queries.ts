/** A measure of the canaries that a Prometheus keeps, by an instant query (prometheus.io/docs, "HTTP API"). */
export type QueryMeasure = NodeQuery | FleetQuery;

interface NamedQuery {
  /** What it is called in messages; unique in the pool. */
  readonly name: string;
  readonly query: string;
}

/** One number of at least 0 for each node: canaries are compared with themselves before the change, and with the nodes that wait. */
export interface NodeQuery extends NamedQuery {
  /** How much worse counts, in the unit of the query; more than 0. */
  readonly least: number;
  /** Of what it was before; counts if it is more than `least`. Absent: `least` alone counts. */
  readonly percent?: number;
  /** Which way is worse; absent for `up`. */
  readonly worse?: 'up' | 'down';
}

/** One number, compared with a limit: a number beyond `above` or `below` is worse. One of them is there. */
export interface FleetQuery extends NamedQuery {
  readonly above?: number;
  readonly below?: number;
}

/** Which Prometheus is asked for measures, and what. */
export interface MeasuresSource {
  /** `http://prometheus.monitoring:9090`. */
  readonly url: string;
  /** The label whose value names the node, `:PORT` at its end left out; absent for `node`. */
  readonly nodeLabel?: string;
  readonly queries: readonly QueryMeasure[];
}

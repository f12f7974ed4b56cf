/** Fields of one kind and what an attacker gains who may choose their values. */
export interface PowerRow {
  /** Paths of the table, each with everything below it. */
  readonly fields: readonly string[];
  /** A clause about the person who chooses the value: "has … run". */
  readonly gives: string;
}

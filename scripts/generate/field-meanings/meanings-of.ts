/** One sentence without a full stop for each field of a table: what it means, not what a change of it costs. */
export type MeaningsOf<Table> = Readonly<Record<keyof Table, string>>;

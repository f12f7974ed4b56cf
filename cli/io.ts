/** What a command sees of the process it runs in. */
export interface Io {
  readonly out: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly err: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Standard input; absent where nobody can type or pipe. */
  readonly in?: AsyncIterable<Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

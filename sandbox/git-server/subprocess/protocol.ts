/** What is to be run. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** All of it: nothing is inherited. */
  readonly env: NodeJS.ProcessEnv;
  /** For its standard input. */
  readonly input: string | Uint8Array;
  /** It is killed after that. */
  readonly timeoutMs: number;
}

/** How it went. */
export interface Ran {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly out: Buffer;
  readonly err: Buffer;
}

/** Between the processes, in both directions. */
export type Asked = Program & { readonly id: number };
export type Told =
  | { readonly id: number; readonly code: number | null; readonly out: Uint8Array; readonly err: Uint8Array }
  /** The code of an error does not cross from one process to the other with it. */
  | { readonly id: number; readonly error: Error; readonly errorCode: string | undefined };

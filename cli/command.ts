import type { Io } from './io.ts';

/**
 * Exit codes of every command, as `diff` has them: nothing to say; findings or changes; 3, changes that would be refused. 2, could not
 * run, is an error.
 */
export type ExitCode = 0 | 1 | 3;

/** An option as `util.parseArgs` takes it, and as help shows it. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** What stands for its value in help: `FILE`. Default: its words. */
  readonly value?: string;
  /** The only values that it takes. */
  readonly words?: readonly string[];
  /** A sentence without a full stop. */
  readonly about: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The options as they were given; absent where they were not. */
export interface Given {
  readonly words: readonly string[];
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  flag(option: string): boolean;
}

/** One command of `kubelet-gitops`. Its folder holds everything that only it needs. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What stands behind the options in the usage line: `[PATH]...`. Absent for a command without words. */
  readonly takes?: string;
  /** Most words that it takes; 0 where `takes` is absent. */
  readonly mostWords: number;
  /** Paragraphs for its own help. */
  readonly about: readonly string[];
  readonly options: OptionSpecs;
  readonly examples: readonly string[];
  /** @throws `Mistake` for what only this command can find wrong with its arguments; any other error is exit code 2, too */
  run(given: Given, io: Io): Promise<ExitCode>;
}

/** The command line makes no sense. */
export class UsageError extends Error {}

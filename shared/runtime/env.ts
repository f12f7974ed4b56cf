import { parseDuration } from './duration.ts';
import type { Millis } from './clock.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads settings from an environment and collects everything that is wrong with them, so that it can all be said at once.
 * Empty text counts as not set: that is how manifests switch an optional setting off.
 */
export interface EnvReader {
  text(name: string, fallback?: string): string;
  optional(name: string): string | undefined;
  duration(name: string, fallback: string): Millis;
  oneOf<const Word extends string>(name: string, words: readonly Word[], fallback: Word): Word;
  integer(name: string, fallback: number): number;
  /** Adds a mistake that only the caller can see. */
  mistake(message: string): void;
  /** One sentence a mistake, in the order of reading. */
  mistakes(): readonly string[];
}

export function createEnvReader(env: Env): EnvReader {
  const mistakes: string[] = [];
  const optional = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  return {
    optional,
    text(name, fallback) {
      const value = optional(name) ?? fallback;
      if (value === undefined) mistakes.push(`${name} is not set`);
      return value ?? '';
    },
    duration(name, fallback) {
      const text = optional(name) ?? fallback;
      const span = parseDuration(text);
      if (span === undefined) mistakes.push(`${name}=${text} is not a valid duration: write 90s, 10m or 1h30m`);
      return span ?? 0;
    },
    oneOf(name, words, fallback) {
      const text = optional(name) ?? fallback;
      const word = words.find((candidate) => candidate === text);
      if (word === undefined) mistakes.push(`${name}=${text} is not one of ${words.join(', ')}`);
      return word ?? fallback;
    },
    integer(name, fallback) {
      const text = optional(name) ?? String(fallback);
      if (!/^\d+$/.test(text)) mistakes.push(`${name}=${text} is not a whole number`);
      return Number.parseInt(text, 10);
    },
    mistake: (message) => mistakes.push(message),
    mistakes: () => mistakes,
  };
}

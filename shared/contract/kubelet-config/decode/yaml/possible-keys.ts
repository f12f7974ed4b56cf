import { type Cursor, type Mark, markOf, YamlSyntaxError } from './cursor.ts';

/** A place where a key may have begun, which only the colon after it tells. */
interface PossibleKey {
  /** Nothing but a key can be there. */
  readonly isRequired: boolean;
  /** Number of the token that it begins with. */
  readonly token: number;
  readonly mark: Mark;
}

/** Where keys without `?` may have begun: one place for each level of flow collections, and one for the blocks around them. */
interface PossibleKeys {
  levels(): number;
  /** A flow collection begins. */
  open(): void;
  /** The innermost one ends. */
  close(): void;
  /** A key may begin here, in place of the last one of this level. @throws YamlSyntaxError as `dropLast` */
  save(key: Omit<PossibleKey, 'mark'>): void;
  /** Whether the token of this number may turn out to begin a key. @throws YamlSyntaxError as `dropLast` */
  mayBegin(token: number): boolean;
  /** There is its colon: the key of this level, where there may be one still. @throws YamlSyntaxError as `dropLast` */
  take(): PossibleKey | undefined;
  /** @throws YamlSyntaxError where there had to be a key */
  dropLast(): void;
}

/** Longest key without `?`, in characters. */
const MAX_KEY = 1024;

export function createPossibleKeys(cursor: Cursor): PossibleKeys {
  const keys: (PossibleKey | undefined)[] = [undefined];

  function isStillPossible(level: number): boolean {
    const key = keys[level];
    if (key === undefined) return false;
    if (key.mark.line === cursor.line && key.mark.offset + MAX_KEY >= cursor.at) return true;
    drop(level);
    return false;
  }

  function drop(level: number): void {
    const key = keys[level];
    if (key?.isRequired === true) throw new YamlSyntaxError('there is no colon after this key', key.mark.offset);
    keys[level] = undefined;
  }

  return {
    levels: () => keys.length,
    open: () => void keys.push(undefined),
    close: () => void keys.pop(),
    save(key) {
      drop(keys.length - 1);
      keys[keys.length - 1] = { ...key, mark: markOf(cursor) };
    },
    mayBegin(token) {
      const level = keys.findIndex((key) => key?.token === token);
      return level >= 0 && isStillPossible(level);
    },
    take() {
      const key = keys.at(-1);
      if (!isStillPossible(keys.length - 1)) return undefined;
      keys[keys.length - 1] = undefined;
      return key;
    },
    dropLast: () => drop(keys.length - 1),
  };
}

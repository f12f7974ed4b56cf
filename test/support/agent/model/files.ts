import type { SeenBase } from '#agent/decide/observation.ts';
import { type Config, sameConfig, type Target } from '#agent/decide/state.ts';
import type { Settled } from '#agent/ports/installer.ts';

/** The managed files, as far as a decision can tell them apart. */
export interface Files {
  /** Whose file of ours there is; null for none. */
  readonly ours: Target;
  /** Somebody else changed it. */
  readonly isTouched: boolean;
  /** Which of the node's own configs is in its place, or under ours. */
  readonly base: number;
}

/** The installer that writes the kubelet's config file: the node's own config is put aside first. */
export interface ModelFiles {
  readonly now: () => Files;
  readonly isInstalled: (target: Target) => boolean;
  /** What installing it leads to. */
  readonly asFor: (target: Target) => Files;
  readonly baseOf: (target: Target) => SeenBase;
  install(target: Target): void;
  /** Somebody puts these into place: the guard. */
  put(files: Files): void;
  takeAsLocal(): void;
  settle(settled: Settled): void;
  touch(): void;
  /** Somebody puts another config of the node's own into its place. */
  provision(): void;
  /** Nothing of ours is there any more, the copy of the node's own config included. */
  forget(): void;
  /** In its place, or put aside. */
  readonly isLocalSafe: () => boolean;
}

/** Stands for its SHA-256. */
const idOf = (base: number): string => String(base).padStart(64, '0');

/** Every third one differs from the one before in a comment only. */
const contentOf = (base: number): number => (base % 3 === 0 ? base - 1 : base);

/** With some, a kubelet dies as soon as anything is laid over them. */
export const isBadUnder = ({ ours, base }: Pick<Files, 'ours' | 'base'>): boolean => ours !== null && base % 4 === 0;

/** The same for a config that names its base. */
export const isOverBadBase = ({ base }: Config): boolean => base !== undefined && Number(base) % 4 === 0;

export function createModelFiles(): ModelFiles {
  let files: Files = { ours: null, isTouched: false, base: 1 };
  /** The record: what was put aside, what the owner put in its place since, and whatever else is kept. */
  let aside: number | null = null;
  let newer: number | null = null;
  let kept: readonly number[] = [];
  let lastBase = 1;

  const isNewerInPlace = (): boolean => files.ours === null && aside !== null && files.base !== aside;
  const own = (): number => (files.ours === null && !isNewerInPlace() ? files.base : (aside ?? files.base));
  const newest = (): number | null => (isNewerInPlace() ? files.base : newer === own() ? null : newer);
  const under = ({ base }: NonNullable<Target>): number =>
    [own(), newest(), ...kept].find((each) => each !== null && base === idOf(each)) ?? own();
  const asFor = (target: Target): Files => {
    const base = target !== null ? under(target) : isNewerInPlace() ? files.base : own();
    return { ours: target, isTouched: false, base };
  };
  const adopt = (base: number): void => {
    if (aside === null || aside === base) return;
    const other = newest();
    kept = [...kept, aside, base];
    [aside, newer] = [base, other === base ? null : other];
  };
  const provision = (): void => {
    lastBase += 1;
    files = { ours: null, isTouched: false, base: lastBase };
  };
  return {
    now: () => files,
    isInstalled: (target) => sameFiles(files, asFor(target)),
    asFor,
    baseOf(target) {
      if (target === null) return { under: idOf(asFor(null).base), newer: null };
      const [base, other] = [under(target), newest()];
      if (target.base !== undefined && target.base !== idOf(base)) {
        const lost = files.ours === null || sameFiles(files, asFor(target)) ? 'gone' : 'kept';
        return { under: idOf(base), newer: { sha256: idOf(base), changes: true, lost } };
      }
      const changes = other !== null && contentOf(other) !== contentOf(base);
      return { under: idOf(base), newer: other === null || other === base ? null : { sha256: idOf(other), changes } };
    },
    install(target) {
      const next = asFor(target);
      if (target !== null && !sameFiles(files, next)) {
        const isOwnInPlace = files.ours === null && !isNewerInPlace();
        const [before, other] = [own(), isOwnInPlace ? null : newest()];
        if (other !== null) kept = [...kept, other];
        [aside, newer] = [before, other];
      }
      files = next;
    },
    put: (other) => {
      files = other;
    },
    takeAsLocal() {
      if (isNewerInPlace()) adopt(files.base);
    },
    settle({ config, refused }) {
      const other = newest();
      const isOwnInPlace = files.ours === null && !isNewerInPlace();
      if (config === null && isOwnInPlace && other !== null && idOf(other) !== refused) {
        files = { ours: null, isTouched: false, base: other };
        adopt(other);
      }
      if (config?.base !== undefined && idOf(under(config as NonNullable<Target>)) === config.base) {
        adopt(under(config as NonNullable<Target>));
      }
    },
    touch() {
      if (files.ours === null) provision();
      else files = { ...files, isTouched: true };
    },
    provision,
    forget: () => {
      [aside, newer, kept] = [null, null, []];
    },
    isLocalSafe: () => files.ours === null || aside !== null,
  };
}

/** A kubelet that reads the one or the other runs the same. */
export const sameFiles = (one: Files, other: Files): boolean =>
  sameConfig(one.ours, other.ours) &&
  one.isTouched === other.isTouched &&
  contentOf(one.base) === contentOf(other.base);

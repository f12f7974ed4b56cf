import { sameConfig, type Target } from '#agent/decide/state.ts';

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
  install(target: Target): void;
  /** Somebody puts these into place: the guard. */
  put(files: Files): void;
  /** The node's own config is another one than the one that was put aside. */
  readonly isNewBase: () => boolean;
  touch(): void;
  provision(): void;
  /** Nothing of ours is there any more, the copy of the node's own config included. */
  forget(): void;
  /** In its place, or put aside. */
  readonly isLocalSafe: () => boolean;
}

export function createModelFiles(): ModelFiles {
  let files: Files = { ours: null, isTouched: false, base: 1 };
  let aside: number | null = null;
  let lastBase = 1;
  const local = (): number => (files.ours === null ? files.base : (aside ?? files.base));
  const asFor = (target: Target): Files => ({ ours: target, isTouched: false, base: local() });
  const provision = (): void => {
    lastBase += 1;
    files = { ours: null, isTouched: false, base: lastBase };
  };
  return {
    now: () => files,
    isInstalled: (target) => sameConfig(files.ours, target) && !files.isTouched,
    asFor,
    install(target) {
      if (target !== null) aside = local();
      files = asFor(target);
    },
    put: (other) => {
      files = other;
    },
    isNewBase: () => files.ours === null && aside !== null && aside !== files.base,
    touch() {
      if (files.ours === null) provision();
      else files = { ...files, isTouched: true };
    },
    provision,
    forget: () => {
      aside = null;
    },
    isLocalSafe: () => files.ours === null || aside !== null,
  };
}

export const sameFiles = (one: Files, other: Files): boolean =>
  sameConfig(one.ours, other.ours) && one.isTouched === other.isTouched && one.base === other.base;

/** Follows whether the kubelet's present run began while its files were as they have to be. */
interface StartTracker {
  update(run: string | null, isInstalled: boolean): void;
  asInstalled(): boolean;
  /** This process saw that run begin. */
  wasSeen(): boolean;
}

export function createStartTracker(): StartTracker {
  let known:
    | { readonly run: string | null; readonly sound: boolean; readonly seen: boolean; readonly wasInstalled: boolean }
    | undefined;
  return {
    update(run, isInstalled) {
      // A run that was not seen to begin, as at our own start, is taken to have read what is there.
      const isNew = known === undefined || known.run !== run || run === null;
      const sound = isNew ? isInstalled && (known?.wasInstalled ?? true) : (known?.sound ?? isInstalled);
      const seen = known !== undefined && (known.seen || known.run !== run);
      known = { run, sound, seen, wasInstalled: isInstalled };
    },
    asInstalled: () => known?.sound ?? false,
    wasSeen: () => known?.seen ?? false,
  };
}

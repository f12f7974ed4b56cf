/** Follows whether the kubelet's present run began while its files were as they have to be. */
export interface StartTracker {
  tell(run: string | null, isInstalled: boolean): void;
  asInstalled(): boolean;
}

export function createStartTracker(): StartTracker {
  let known: { readonly run: string | null; readonly sound: boolean; readonly wasInstalled: boolean } | undefined;
  return {
    tell(run, isInstalled) {
      // A run that was not seen to begin, as at our own start, is taken to have read what is there.
      const isNew = known === undefined || known.run !== run || run === null;
      const sound = isNew ? isInstalled && (known?.wasInstalled ?? true) : (known?.sound ?? isInstalled);
      known = { run, sound, wasInstalled: isInstalled };
    },
    asInstalled: () => known?.sound ?? false,
  };
}

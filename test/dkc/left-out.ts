/** A thing that was tried on the original and has no meaning here. */
export interface LeftOut {
  readonly dkc: readonly number[];
  readonly because: string;
  /** Scenarios that show what happens instead. */
  readonly instead: readonly number[];
}

export const LEFT_OUT: readonly LeftOut[] = [
  {
    dkc: [55],
    because:
      'When a reference was written says nothing here. The time of a trial is healthy time that was seen, and is written down as such; what a file system says of a file can be wrong by hours.',
    instead: [184, 185],
  },
  {
    dkc: [86, 87, 88, 89, 90, 91],
    because:
      'They tried the original’s own test tools for files. Ours is a file system in memory, which is held to the real one call by call in test/agent/faults.',
    instead: [68, 69, 77, 78],
  },
  {
    dkc: [114, 116, 118],
    because:
      'They are about fields that come and go with a feature gate of the API server. An assignment is an object of a kind of its own, and whoever installs that kind has it.',
    instead: [113, 115, 117, 119],
  },
  {
    dkc: [127, 128, 129, 130, 131, 132, 134, 139],
    because:
      'A node could read exactly the ConfigMaps that its Node named. Agents read every config source by its name, in one namespace that holds nothing else: configs are no secrets, and all nodes of a pool have the same one. So it makes no difference who refers to a ConfigMap, before or after.',
    instead: [125, 126, 133, 137, 140],
  },
];

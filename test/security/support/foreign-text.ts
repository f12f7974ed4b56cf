const OPERATORS = 'the address of the repository is a setting, and nobody else writes it';
const TEMPLATE = 'its text is a file of the template that comes with the program';
const SHORT = 'its text was cut to a few hundred characters before';

/**
 * Files that put expressions together later, of what the operator wrote and run them on one
 * fixed word, or of a fixed word and run them on what the kernel says.
 */
export const BUILT_LATER: ReadonlySet<string> = new Set([
  'reconciler/git/trust/allowed-signers.ts',
  'agent/preflight/gather-host-facts.ts',
]);

/** Regular expressions that nobody proves linear, and need not, with why. */
export const EXCUSED: ReadonlyMap<string, string> = new Map([
  [
    String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])`,
    'it is tried at one place, and each of its parts begins with another character than the one before goes on with',
  ],
  [String.raw`\/+$`, OPERATORS],
  [String.raw`^\/+|\/+$`, OPERATORS],
  [String.raw`^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$|^[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$`, OPERATORS],
  [String.raw`^(?:([^/@:]+)@)?([^/@:]+):(?!\/\/)(.+)$`, OPERATORS],
  [String.raw`^# What one cluster needs to know[\s\S]*?(?=^apiVersion: )`, TEMPLATE],
  [String.raw`^ {2}# As in Kubernetes[\s\S]*?\n\n`, TEMPLATE],
  [String.raw`\. Keep the one of your forge \(.*?\)`, TEMPLATE],
  ['[^a-z0-9]+$', SHORT],
  [String.raw`^(?:goroutine \d|created by |\s|$|[\w./*()-]+\(.*\)$|Usage:|--|Flag --)`, SHORT],
  [String.raw`(?:^|-)pod[0-9a-f][0-9a-f_-]{30,}(?:\.slice)?$`, 'names of cgroups have at most 255 bytes'],
  [String.raw`(?<=\S) {2,}(?=\S)`, 'it begins at the first blank of a row only, because of what stands before it'],
  [String.raw`"((?:[^"\\]|\\.)*)"`, 'of warnings of the API server, 4 KiB are read'],
  [String.raw`\d+$`, 'a boot ID that the simulation wrote itself'],
  [String.raw`^(.*?)((?:[~^]\d*)*)$`, 'a revision that somebody typed'],
  [
    String.raw`^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)`,
    'what Node says of the arguments of a command',
  ],
  [
    String.raw`((?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|account[-_]?key|shared[-_]?key|credentials?|signature|secret[-_]?id|dockerconfigjson)[\\"']*\s*[:=]\s*[\\"']*)(?![\s\\"',}{[]|\[redacted)[^\s\\"',}]+`,
    'it begins at a name only, and no two of the parts that repeat share a character with the next',
  ],
]);

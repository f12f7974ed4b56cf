/** What is wrong with a pattern, and how to write it where that can be told. */
export interface PatternFault {
  readonly message: string;
  readonly suggestion?: string;
}

const HOST_PART = '[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?';
const PATH_PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
/** As the references of the OCI distribution project have it: registry, then path. */
const FULL_NAME = new RegExp(
  String.raw`^((?:${HOST_PART}(?:\.${HOST_PART})*|\[[A-Fa-f0-9:]+\])(?::\d+)?)/(${PATH_PART}(?:/${PATH_PART})*)$`,
);
const PATH = new RegExp(`^${PATH_PART}(?:/${PATH_PART})*$`);
const LONGEST_PATH = 255;

/** Go's `strings.TrimSpace` would take something off. */
const OUTER_SPACE = /^\s|\s$/;

/**
 * What the kubelet has against an entry of `preloadedImagesVerificationAllowlist` (1.33 to 1.36, pullmanager's
 * `ValidateAllowlistImagesPatterns`): before a final `/*` anything may stand that has no other star; without it, it has
 * to be the full name of an image, registry included, as the kubelet itself would write it.
 */
export function imagePatternFault(pattern: string): PatternFault | undefined {
  const quoted = JSON.stringify(pattern);
  if (OUTER_SPACE.test(pattern)) return { message: `${quoted} has spaces around it`, suggestion: 'take them out' };
  if (pattern === '') return { message: 'the image name is empty' };
  const stem = pattern.endsWith('/*') ? pattern.slice(0, -1) : pattern;
  if (stem.includes('*')) return { message: `${quoted}: a star may only stand at the end, as /*` };
  if (stem === '/') return { message: `${quoted} names no registry before /*` };
  return stem === pattern ? nameFault(pattern) : undefined;
}

function nameFault(name: string): PatternFault | undefined {
  const bare = name.replace(/@.*$/s, '').replace(/:[^/]*$/, '');
  const fault = fullNameFault(name);
  if (fault === undefined || bare === name || fullNameFault(bare) !== undefined) return fault;
  return { message: `${JSON.stringify(name)} has a tag or a digest`, suggestion: `write ${bare}` };
}

function fullNameFault(name: string): PatternFault | undefined {
  const [, registry = '', path = ''] = FULL_NAME.exec(name) ?? [];
  const isRegistry = registry === 'localhost' || /[.:A-Z]/.test(registry);
  const isFull = isRegistry && path.length <= LONGEST_PATH && registry !== 'index.docker.io';
  if (isFull && (registry !== 'docker.io' || path.includes('/'))) return undefined;
  const message = `${JSON.stringify(name)} is no full name of an image with its registry`;
  const full = fullNameOf(name, isRegistry ? registry : '', path);
  return full === undefined ? { message } : { message, suggestion: `write ${full}` };
}

/** Names without a registry are Docker Hub's. */
function fullNameOf(name: string, registry: string, path: string): string | undefined {
  const onHub = registry === 'docker.io' || registry === 'index.docker.io' ? path : name;
  if (!PATH.test(onHub) || (registry !== '' && onHub === name)) return undefined;
  return `docker.io/${onHub.includes('/') ? onHub : `library/${onHub}`}`;
}

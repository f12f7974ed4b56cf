/** What is wrong with a pattern, and how to write it, if that is known. */
interface PatternFault {
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
  const untagged = name.split('@', 1)[0] ?? '';
  const tagAt = untagged.indexOf(':', untagged.lastIndexOf('/') + 1);
  const bare = tagAt < 0 ? untagged : untagged.slice(0, tagAt);
  if (isFullName(name)) return undefined;
  const full = isFullName(bare) ? bare : onDockerHub(bare);
  const fault = bare === name ? 'is not the full name of an image with its registry' : 'has a tag or a digest';
  const message = `${JSON.stringify(name)} ${fault}`;
  return full === undefined ? { message } : { message, suggestion: `write ${full}` };
}

function isFullName(name: string): boolean {
  const [, registry = '', path = ''] = FULL_NAME.exec(name) ?? [];
  const isRegistry = registry === 'localhost' || /[.:A-Z]/.test(registry);
  if (!isRegistry || path.length > LONGEST_PATH || registry === 'index.docker.io') return false;
  return registry !== 'docker.io' || path.includes('/');
}

/** Names without a registry are Docker Hub's; undefined where the name is none at all. */
function onDockerHub(name: string): string | undefined {
  const path = name.replace(/^(?:index\.)?docker\.io\//, '');
  const isOther = path === name && /[.:]/.test(name.split('/', 1)[0] ?? '');
  if (isOther || !PATH.test(path)) return undefined;
  return `docker.io/${path.includes('/') ? path : `library/${path}`}`;
}

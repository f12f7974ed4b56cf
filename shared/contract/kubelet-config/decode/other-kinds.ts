import { isMap } from '../walk.ts';

/** The kind of the files that describe a pool. */
const POOL_KIND = 'KubeletPool';

/** What to do with a file that holds no KubeletConfiguration, where it is one that people often take for one. */
export function otherKindAdvice(file: Readonly<Record<string, unknown>>): string | undefined {
  if (isMap(file['kubeletconfig']))
    return 'this is an answer of /configz: import takes it, and a kubelet what is in kubeletconfig';
  if (file['kind'] === POOL_KIND) return 'a pool is judged with its repository: give the directory';
  if (file['kind'] !== 'ConfigMap' || !isMap(file['data'])) return undefined;
  const held = Object.entries(file['data']).find(([, text]) => typeof text === 'string' && CLAIM.test(text));
  return held && `the config is the text in data.${held[0]}: give that`;
}

const CLAIM = /\bkind"?: *"?KubeletConfiguration\b/;

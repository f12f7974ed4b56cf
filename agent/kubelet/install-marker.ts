import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';

const MARKER = '# Managed by kubelet-gitops:';

const HEAD = `${MARKER} edits of this file are undone. Change the pool in the config repository.
# Whatever is put here without these lines is taken for the node's own config, and the pool's is laid over it.
`;

/**
 * A config as it goes into the kubelet's config file: canonical, below a comment that tells our file from the node's own
 * also after an edit by hand.
 *
 * With a comment before it, kubelets read the JSON as YAML (the decoder goes by a leading `{`; so in 1.20 to 1.36,
 * tried with 1.20.2). The two differ in a few characters, which are escaped: YAML takes some for line breaks and refuses
 * others.
 */
export function renderManaged(config: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(HEAD + canonicalize(config).replace(NOT_IN_YAML, escape), 'utf8');
}

/** Whether a file was ours once, whatever became of it since. Programs that provision nodes write no such line. */
export function isMarked(bytes: Buffer): boolean {
  return bytes
    .toString('utf8')
    .split(/\r?\n/)
    .some((line) => line.trimStart().startsWith(MARKER));
}

/** All of these occur in a JSON text inside of strings only. */
const NOT_IN_YAML = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

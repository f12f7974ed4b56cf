import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { redact } from '#shared/runtime/redact.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** Headers of a request for static pods that say nothing about who asks. */
const HARMLESS_HEADER = /^(?:accept(?:-[a-z]+)?|cache-control|from|host|user-agent)$/i;

/**
 * Where a config says what looks like a credential, with its path: in headers for static pods, which have no other use, in
 * addresses, and by what tokens and keys look like. It is no secret any more: a config is in git, in a ConfigMap that every
 * agent may read, and on disk.
 */
export function credentialsIn(config: Readonly<Record<string, unknown>>): readonly Path[] {
  const found: Path[] = [];
  const visit = (value: unknown, path: Path): void => {
    if (isMap(value)) for (const [key, item] of Object.entries(value)) visit(item, [...path, key]);
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, [...path, index]);
    else if (typeof value === 'string' && value !== '' && (isHeader(path) || redact(value) !== value)) found.push(path);
  };
  visit(config, []);
  return found;
}

const isHeader = ([field, name]: Path): boolean =>
  field === 'staticPodURLHeader' && !HARMLESS_HEADER.test(String(name));

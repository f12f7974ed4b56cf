import { join } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';
import type { HostFacts } from './host-facts.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';
import { mapOf } from '#shared/runtime/maps.ts';

const USER = 'kubelet';
const COMMANDS = ['/usr/bin/getsubids', '/bin/getsubids'];
/** More pods than a kubelet has by default; of a mapping file, as much as one mapping takes. */
const MOST_PODS = 512;
const MOST_BYTES = 4096;

/**
 * The subordinate ids of the kubelet's user, as `getsubids` would print them. Undefined where that cannot be told from files, or where
 * the kubelet starts with no config at all.
 */
export async function subordinateIdsOf(files: HostFiles): Promise<HostFacts['subordinateIds']> {
  const users = await files.text('/etc/passwd');
  if (users === undefined) return undefined;
  const uid = recordOf(USER, users)?.[2];
  const sources = (await files.text('/etc/nsswitch.conf')) ?? '';
  const isOnlyInFiles = (name: string): boolean =>
    (recordOf(name, sources)?.[1] ?? 'files')
      .trim()
      .split(/\s+/)
      .every((source) => LOCAL.test(source));
  if (uid === undefined) return isOnlyInFiles('passwd') ? 'none' : undefined;
  const commands = await Promise.all(COMMANDS.map((path) => files.kind(path)));
  if (!commands.includes('file') || !isOnlyInFiles('subid')) return undefined;
  // A line without an owner is nobody's.
  if (!/^\d+$/.test(uid)) return undefined;
  const [uids, gids] = await Promise.all(
    ['/etc/subuid', '/etc/subgid'].map(async (path) => rangesOf([USER, uid], (await files.text(path)) ?? '')),
  );
  const [range] = uids ?? [];
  return uids?.length === 1 && uids.join() === gids?.join() ? parseRange(range) : undefined;
}

/** systemd's only knows of users that units have made up. */
const LOCAL = /^(?:files|compat|systemd|altfiles|\[.*\])$/;

/** The line that begins with a name, in parts. */
const recordOf = (name: string, text: string): readonly string[] | undefined =>
  text
    .split('\n')
    .map((line) => line.split(':'))
    .find(([first]) => first === name);

const rangesOf = (owners: readonly string[], text: string): readonly string[] =>
  text.split('\n').flatMap((line) => {
    const [owner = '', ...range] = line.trim().split(':');
    return owners.includes(owner) ? [range.join(':')] : [];
  });

function parseRange(range = ''): HostFacts['subordinateIds'] {
  const [, first, length] = /^(\d+):(\d+)$/.exec(range)?.map(Number) ?? [];
  return first === undefined || length === undefined ? undefined : { first, length };
}

/** How many user ids each pod has that was given some: the kubelet writes them into the pod's directory (pkg/kubelet/userns). */
export async function idsOfPods(kubeletDirectory: string, files: HostFiles): Promise<readonly number[]> {
  const pods = ((await files.names(join(kubeletDirectory, 'pods'))) ?? []).slice(0, MOST_PODS);
  const texts = await Promise.all(
    pods.map((pod) => files.text(join(kubeletDirectory, 'pods', pod, 'userns'), MOST_BYTES)),
  );
  return texts.flatMap((text) => {
    const length = lengthIn(text ?? '');
    return length === undefined ? [] : [length];
  });
}

function lengthIn(text: string): number | undefined {
  const mappings = mapOf(jsonIn(text))['uidMappings'];
  const length = Array.isArray(mappings) ? mapOf(mappings[0])['length'] : undefined;
  return typeof length === 'number' ? length : undefined;
}

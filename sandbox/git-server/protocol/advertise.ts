import type { Oid } from '#sandbox/git-server/objects/oid.ts';
import { NO_OID } from '#sandbox/git-server/objects/oid.ts';
import { peel } from '#sandbox/git-server/objects/git-object.ts';
import { FLUSH, packet } from './packets.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';

export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** Versions of the wire protocol that the server speaks. Pushes know no version 2. */
export type ProtocolVersion = 0 | 1 | 2;

const AGENT = 'agent=kubelet-gitops-sandbox';
const SHARED = ['side-band-64k', 'ofs-delta', 'object-format=sha1', AGENT];
const FETCH = ['multi_ack_detailed', 'shallow', 'deepen-relative', 'no-progress', 'allow-reachable-sha1-in-want'];
const TIP = 'allow-tip-sha1-in-want';

/** The version that a client asks for in its `Git-Protocol` header; 0 without a known one. */
export function versionOf(header: string | undefined): ProtocolVersion {
  const asked = (header ?? '').split(':');
  if (asked.includes('version=2')) return 2;
  return asked.includes('version=1') ? 1 : 0;
}

/** The answer to `GET info/refs?service=…`. */
export function advertise(repository: Repository, service: GitService, asked: ProtocolVersion): Buffer {
  if (service === 'git-upload-pack' && asked === 2) return capabilitiesV2();
  const banner = [packet(`# service=${service}\n`), FLUSH];
  const version = asked === 0 ? [] : [packet('version 1\n')];
  const lines = service === 'git-upload-pack' ? fetchLines(repository) : [...sorted(repository)];
  return Buffer.concat([...banner, ...version, ...withCapabilities(lines, capabilities(repository, service)), FLUSH]);
}

/** Version 2 lists no refs here: clients ask for those that they need with `ls-refs`. */
function capabilitiesV2(): Buffer {
  const lines = ['version 2', AGENT, 'ls-refs=unborn', 'fetch=shallow', 'object-format=sha1'];
  return Buffer.concat([...lines.map((line) => packet(`${line}\n`)), FLUSH]);
}

function capabilities(repository: Repository, service: GitService): readonly string[] {
  if (service === 'git-receive-pack') return ['report-status', ...SHARED];
  const symref = repository.refs.has(repository.head) ? [`symref=HEAD:${repository.head}`] : [];
  return [...FETCH, TIP, ...symref, ...SHARED];
}

type RefLine = readonly [ref: string, oid: Oid];

/** All refs in git's order, `HEAD` not among them. */
export function sorted(repository: Repository): readonly RefLine[] {
  return [...repository.refs].sort(([left], [right]) => (left < right ? -1 : 1));
}

/** `HEAD` first unless its branch is missing, and after each annotated tag what it tags. */
function fetchLines(repository: Repository): readonly RefLine[] {
  const head = repository.refs.get(repository.head);
  const lines: RefLine[] = head === undefined ? [] : [['HEAD', head]];
  for (const [ref, oid] of sorted(repository)) {
    lines.push([ref, oid]);
    const { target } = peel(repository.lookup, oid);
    if (target !== oid) lines.push([`${ref}^{}`, target]);
  }
  return lines;
}

/** Capabilities ride on the first line, behind a NUL; an empty repository has a line for nothing but them. */
function withCapabilities(lines: readonly RefLine[], offered: readonly string[]): readonly Buffer[] {
  const all: readonly RefLine[] = lines.length === 0 ? [['capabilities^{}', NO_OID]] : lines;
  return all.map(([ref, oid], index) => packet(`${oid} ${ref}${index === 0 ? `\0${offered.join(' ')}` : ''}\n`));
}

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '#shared/runtime/errors.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { firstEndOf } from '../trust/key-ends.ts';
import { trustedKeysIn } from '../trust/trusted-keys.ts';

/** What the reconciler was given for a time only. */
export type Purpose =
  | 'git-authority'
  | 'prometheus-authority'
  | 'git-credential'
  | 'notes-credential'
  | 'forge-token'
  | 'prometheus-token'
  | 'trusted-key';

export interface Expiring {
  readonly purpose: Purpose;
  /** undefined: it has no end that is known. Rejects where it cannot be told; with ENOENT where the thing is not there. */
  end(): Promise<Millis | undefined>;
}

export interface Expiration {
  readonly purpose: Purpose;
  /** 0 where the file is there and nobody can tell what it says: better looked at too early than too late. */
  readonly at: Millis;
}

/** The settings that name such things; see docs/reference/settings.md. */
export interface ExpiringSettings {
  readonly gitCaFile: string | undefined;
  readonly gitCredentialsDir: string | undefined;
  readonly signedCommits: 'on' | 'off';
  readonly trustedKeysDir: string | undefined;
  readonly notes: 'on' | 'off';
  readonly notesCredentialsDir: string | undefined;
  readonly forge: { readonly tokenFile: string } | undefined;
  readonly prometheus: {
    readonly caFile: string | undefined;
    readonly token: { readonly file: string } | undefined;
  };
}

/** Neither git nor a forge says when a credential ends, so the Secret may have the date under this name. */
const DATE_FILE = 'expires';

export function expiringOf(settings: ExpiringSettings, clock: Pick<Clock, 'now'>): readonly Expiring[] {
  const { gitCaFile, gitCredentialsDir, notes, notesCredentialsDir, forge, prometheus } = settings;
  const { signedCommits, trustedKeysDir } = settings;
  const ownOfNotes = notes === 'on' && notesCredentialsDir !== gitCredentialsDir ? notesCredentialsDir : undefined;
  return [
    ...certificates('git-authority', gitCaFile),
    ...certificates('prometheus-authority', prometheus.caFile),
    ...gitCredential('git-credential', gitCredentialsDir),
    ...gitCredential('notes-credential', ownOfNotes),
    ...date('forge-token', forge && dirname(forge.tokenFile)),
    ...date('prometheus-token', prometheus.token && dirname(prometheus.token.file)),
    ...(signedCommits === 'on' ? trustedKeys(trustedKeysDir, clock) : []),
  ];
}

const certificates = (purpose: Purpose, file: string | undefined): readonly Expiring[] =>
  file === undefined ? [] : [{ purpose, end: async () => endOfCertificates(await readFile(file, 'utf8')) }];

/** A date, a client certificate (`tls.crt`), or both: whichever ends first. */
function gitCredential(purpose: Purpose, directory: string | undefined): readonly Expiring[] {
  if (directory === undefined) return [];
  const parts = [...date(purpose, directory), ...certificates(purpose, join(directory, 'tls.crt'))];
  return [
    {
      purpose,
      end: async () => {
        const ends = await readExpirations(parts);
        return ends.length === 0 ? undefined : Math.min(...ends.map(({ at }) => at));
      },
    },
  ];
}

function date(purpose: Purpose, directory: string | undefined): readonly Expiring[] {
  if (directory === undefined) return [];
  return [{ purpose, end: async () => dateIn(await readFile(join(directory, DATE_FILE), 'utf8')) ?? 0 }];
}

function trustedKeys(directory: string | undefined, clock: Pick<Clock, 'now'>): readonly Expiring[] {
  if (directory === undefined) return [];
  const read = trustedKeysIn(directory);
  return [{ purpose: 'trusted-key', end: async () => firstEndOf(await read(), new Date(clock.now())) }];
}

/** Reads them as they are now, because Secrets and ConfigMaps are replaced while we run. What is not there says nothing. */
export async function readExpirations(things: readonly Expiring[]): Promise<readonly Expiration[]> {
  const read = things.map(async ({ purpose, end }): Promise<Expiration | undefined> => {
    try {
      const at = await end();
      return at === undefined ? undefined : { purpose, at };
    } catch (error) {
      return codeOf(error) === 'ENOENT' ? undefined : { purpose, at: 0 };
    }
  });
  return (await Promise.all(read)).filter((each) => each !== undefined);
}

/** `2027-06-30`, which is over as it begins, or `2027-06-30T12:00:00Z`; in UTC where it names no zone. */
export function dateIn(text: string): Millis | undefined {
  const written = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?) ?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/.exec(text.trim());
  const [, day = '', time = '00:00', zone = 'Z'] = written ?? [];
  const at = Date.parse(`${day}T${time}${zone === 'UTC' ? 'Z' : zone}`);
  return Number.isNaN(at) ? undefined : at;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** While an authority is being replaced, the old and the new certificate stand side by side: the later of a name counts. */
function endOfCertificates(pem: string): Millis {
  const ends = new Map<string, Millis>();
  for (const text of pem.match(CERTIFICATE) ?? []) {
    const { subject, validTo } = new X509Certificate(text);
    ends.set(subject, Math.max(ends.get(subject) ?? 0, Date.parse(validTo)));
  }
  return ends.size === 0 ? 0 : Math.min(...ends.values());
}

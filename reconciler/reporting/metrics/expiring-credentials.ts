import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { certificatesIn } from '#shared/runtime/pem.ts';
import { firstExpirationOf } from '../../git/trust/key-expiration.ts';
import { trustedKeysIn } from '../../git/trust/trusted-keys.ts';
import { expirationOf, type Expiring, type Purpose } from './expirations.ts';

/** The settings that name such things; see docs/reference/settings.md. */
export interface ExpiringSettings {
  readonly gitCaFile: string | undefined;
  readonly gitCredentialsDir: string | undefined;
  readonly signedCommits: 'on' | 'off';
  readonly trustedKeysDir: string | undefined;
  readonly mergeKeysDir?: string | undefined;
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

/** All that a reconciler with these settings was given for a time only. */
export function expiringCredentialsOf(settings: ExpiringSettings, clock: Pick<Clock, 'now'>): readonly Expiring[] {
  const { gitCaFile, gitCredentialsDir, notes, notesCredentialsDir, forge, prometheus } = settings;
  const { signedCommits, trustedKeysDir, mergeKeysDir } = settings;
  const ownOfNotes = notes === 'on' && notesCredentialsDir !== gitCredentialsDir ? notesCredentialsDir : undefined;
  return [
    ...certificates('git-authority', gitCaFile),
    ...certificates('prometheus-authority', prometheus.caFile),
    ...gitCredential('git-credential', gitCredentialsDir),
    ...gitCredential('notes-credential', ownOfNotes),
    ...date('forge-token', forge && dirname(forge.tokenFile)),
    ...date('prometheus-token', prometheus.token && dirname(prometheus.token.file)),
    ...(signedCommits === 'on' ? trustedKeys([trustedKeysDir, mergeKeysDir], clock) : []),
  ];
}

const certificates = (purpose: Purpose, file: string | undefined): readonly Expiring[] =>
  file === undefined
    ? []
    : [
        {
          purpose,
          end: async () =>
            endOfCertificates(await readFile(file, 'utf8')) ?? unreadable(`${file} holds no certificate`),
        },
      ];

/** A date, a client certificate (`tls.crt`), or both: whichever ends first. */
function gitCredential(purpose: Purpose, directory: string | undefined): readonly Expiring[] {
  if (directory === undefined) return [];
  const parts = [...date(purpose, directory), ...certificates(purpose, join(directory, 'tls.crt'))];
  return [
    {
      purpose,
      end: async () => {
        const ends = (await Promise.all(parts.map(expirationOf))).filter((end) => end !== undefined);
        return ends.length === 0 ? undefined : Math.min(...ends);
      },
    },
  ];
}

function date(purpose: Purpose, directory: string | undefined): readonly Expiring[] {
  if (directory === undefined) return [];
  const file = join(directory, DATE_FILE);
  return [
    {
      purpose,
      end: async () => parseExpirationDate(await readFile(file, 'utf8')) ?? unreadable(`${file} holds no date`),
    },
  ];
}

function trustedKeys(directories: readonly (string | undefined)[], clock: Pick<Clock, 'now'>): readonly Expiring[] {
  const readers = directories.filter((directory) => directory !== undefined).map(trustedKeysIn);
  if (readers.length === 0) return [];
  const end = async (): Promise<Millis | undefined> => {
    const ends = readers.map(async (read) => firstExpirationOf(await read(), new Date(clock.now())));
    const known = (await Promise.all(ends)).filter((each) => each !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  return [{ purpose: 'trusted-key', end }];
}

function unreadable(why: string): never {
  throw new Error(why);
}

/** `2027-06-30`, which is over as it begins, or `2027-06-30T12:00:00Z`; in UTC without a zone. */
export function parseExpirationDate(text: string): Millis | undefined {
  const written = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?) ?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/.exec(text.trim());
  const [, day = '', time = '00:00', zone = 'Z'] = written ?? [];
  const at = Date.parse(`${day}T${time}${zone === 'UTC' ? 'Z' : zone}`);
  return Number.isNaN(at) ? undefined : at;
}

/** While an authority is being replaced, the old and the new certificate stand side by side: the later of a name counts. */
function endOfCertificates(pem: string): Millis | undefined {
  const ends = new Map<string, Millis>();
  for (const text of certificatesIn(pem)) {
    const { subject, validTo } = new X509Certificate(text);
    ends.set(subject, Math.max(ends.get(subject) ?? 0, Date.parse(validTo)));
  }
  return ends.size === 0 ? undefined : Math.min(...ends.values());
}

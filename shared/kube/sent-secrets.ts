import type { Credential } from './kube-credentials.ts';

/** What was shown to a server in confidence lately. */
interface SentSecrets {
  note(credential: Credential): Credential;
  hide(text: string): string;
}

/** One that is being replaced may still come back in an answer. */
const REMEMBERED = 4;
/** Anything shorter is no secret, and may stand in an answer for other reasons. */
const SHORTEST = 8;

export function createSentSecrets(): SentSecrets {
  let secrets: readonly string[] = [];
  return {
    note(credential) {
      const fresh = secretsOf(credential).filter((secret) => !secrets.includes(secret));
      if (fresh.length > 0) secrets = [...fresh, ...secrets].slice(0, REMEMBERED);
      return credential;
    },
    hide: (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text),
  };
}

/** The bearer token, and what a header of its own has behind `Basic`. */
function secretsOf({ token = '', headers = {} }: Credential): readonly string[] {
  const basic = Object.entries(headers).flatMap(([name, value]) =>
    name.toLowerCase() === 'authorization' ? [String(value).replace(/^\w+ +/, '')] : [],
  );
  return [token, ...basic].filter((secret) => secret.length >= SHORTEST);
}

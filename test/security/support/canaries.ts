/** Secrets of one run, each with a name to tell by which of them came out. */
export const CANARIES = {
  'password of git': 'cnry-git-Zk3vQ8pW1',
  'password of notes': 'cnry-notes-Xq7rT2mB5',
  'secret of the webhook': 'cnry-hook-Lw9sD4nC6',
  'token of the forge': 'cnry-forge-Gh2yU6kE8',
  'address of a receiver': 'cnry-chat-Mb3eW8tY4',
  'key of notifications': 'cnry-sign-Kd6rP1zE7',
  'token of the reconciler': 'cnry-kube-Rt5jM1aV3',
  'token of the agent': 'cnry-agent-Pf8bN7xS2',
  'token of Prometheus': 'cnry-prom-Vc4gK9dH7',
  'password in an address': 'cnry-url-Ty6wJ3qL1',
} as const;

export const USERS = { git: 'reader', notes: 'annotator' } as const;

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** Whom the git server knows, by their header. */
export const GIT_ACCESS: ReadonlyMap<string, 'push' | 'read'> = new Map([
  [basic(USERS.git, CANARIES['password of git']), 'read'],
  [basic(USERS.notes, CANARIES['password of notes']), 'push'],
]);

/** Every form in which a secret travels: as it is, as an address or a header has it. */
function formsOf(secret: string): readonly string[] {
  const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const pairs = Object.values(USERS).map((user) => base64(`${user}:${secret}`));
  return [secret, encodeURIComponent(secret), base64(secret), Buffer.from(secret).toString('hex'), ...pairs];
}

/** The lines of a private key's armour that nothing but the key can have, each as a secret of its own. */
export function linesOfKey(name: string, armoured: string): Readonly<Record<string, string>> {
  const lines = armoured.split(/\r?\n/).filter((line) => /^[A-Za-z0-9+/=]{16,}$/.test(line));
  return Object.fromEntries(lines.map((line, index) => [`${name}, line ${index + 1}`, line]));
}

/** Which secrets are in a text, and where. Empty: none. */
export function leaksIn(
  outputs: ReadonlyMap<string, string>,
  secrets: Readonly<Record<string, string>> = CANARIES,
): readonly string[] {
  return [...outputs].flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) => {
      const form = formsOf(secret).find((each) => text.includes(each));
      if (form === undefined) return [];
      const at = text.indexOf(form);
      return [`the ${name} is in ${place}: …${text.slice(Math.max(0, at - 80), at + 80)}…`];
    }),
  );
}

/** What stands for a secret. */
export const REDACTED = '[redacted]';

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;
const KEY_ENDS = /-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // As Go prints them: kubelets to 1.27 and newer log a whole container, with its environment and arguments, that does not start.
  [/(\bContainer\{Name:[^,{\r\n]{0,253},)[^\r\n]*?(?= start failed in pod |[\r\n]|$)/g, `$1${REDACTED}}`],
  [/(\bEnvVar\{Name:[^,{\r\n]{0,253},Value:)[^\r\n]*?(?=,ValueFrom:|[\r\n]|$)/g, `$1${REDACTED}`],
  // The rest of the line: schemes of HTTP are many.
  [/((?:authorization|cookie)[\\"']*\s*[:=]\s*[\\"']*)(?![\s\\"',}{[]|\[redacted)[^\r\n\\"']+/gi, `$1${REDACTED}`],
  [/\b(bearer|basic|negotiate|ntlm)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [
    /((?:x-api-key|x-auth-token|private-token|job-token|--password|--passphrase|--token|--secret)\s+)\S+/gi,
    `$1${REDACTED}`,
  ],
  [/(hooks\.slack\.com\/services\/)\S+/gi, `$1${REDACTED}`],
  // Short words behind these are words of a sentence, or modes.
  [/\b((?:auth|bearer|sig)[\\"']*\s*[:=]\s*[\\"']*)[A-Za-z0-9._~+/=%-]{16,}/gi, `$1${REDACTED}`],
  // `password: x`, `"token":"x"`, `secret = x`, also escaped in a string of JSON.
  [
    /((?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|account[-_]?key|shared[-_]?key|credentials?|signature|secret[-_]?id|dockerconfigjson)[\\"']*\s*[:=]\s*[\\"']*)(?![\s\\"',}{[]|\[redacted)[^\s\\"',}]+/gi,
    `$1${REDACTED}`,
  ],
];

/** Characters: shorter words behind "token" are words of a sentence. */
const SHORTEST_TOKEN = 16;

/**
 * How tokens begin or look: of GitHub, GitLab, Slack, Vault, npm, Docker, Google, OpenAI, Grafana, Hugging Face, Atlassian,
 * DigitalOcean, SendGrid, age, AWS and EKS, OpenShift, Rancher, bootstrap (kubeadm), and JSON web tokens.
 */
const TOKENS: readonly RegExp[] = [
  /^(?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-|xox[abprs]-|xapp-|glsa_|hf_|dop_v1_|AT[AC]TT3|SG\.|AGE-SECRET-KEY-|k8s-aws-v1\.|sha256~|hv[sb]\.|npm_|dckr_|AIza|ya29\.|sk-|pypi-|gto_)/,
  /^(?:AKIA|ASIA)[A-Z0-9]{16}$/,
  /^[a-z0-9]{6}\.[a-z0-9]{16}$/,
  /^(?:token|kubeconfig)-[a-z0-9.-]{1,63}:[a-z0-9]{40}/,
  /^eyJ[\w-]+\.[\w-]/,
];

/** A text without anything that looks like a credential. It may take away more than it had to. Takes time in proportion to the text. */
export function redact(text: string): string {
  const plain = withoutKeys(text)
    .replace(/[^\s"'<>]+/g, withoutUserinfo)
    .replace(/[\w.~:-]+/g, withoutToken);
  const withoutTokens = plain.replace(/\b(token\s+)([\w.-]+)/gi, (all: string, before: string, word: string) =>
    word.length >= SHORTEST_TOKEN && /\d/.test(word) ? before + REDACTED : all,
  );
  return PATTERNS.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), withoutTokens);
}

/** A colon stands in the tokens of Rancher, and otherwise between a name and a value. */
const withoutToken = (word: string): string =>
  isToken(word)
    ? REDACTED
    : word
        .split(':')
        .map((part) => (isToken(part) ? REDACTED : part))
        .join(':');

const isToken = (word: string): boolean => word.length >= SHORTEST_TOKEN && TOKENS.some((token) => token.test(word));

/** Without private keys in PEM. One that does not end takes the rest of the text with it. */
function withoutKeys(text: string): string {
  const [before = '', ...keys] = text.split(KEY_BEGINS);
  return before + keys.map((key) => REDACTED + key.split(KEY_ENDS).slice(1).join(REDACTED)).join('');
}

/** An address without user and password, and without what its query says. A password may hold @ and slashes. */
function withoutUserinfo(word: string): string {
  const start = word.indexOf('://') + '://'.length;
  if (start < '://'.length) return word;
  const asked = word.slice(start).search(/[?#]/);
  const address = asked < 0 ? word.slice(start) : word.slice(start, start + asked);
  const at = address.lastIndexOf('@');
  const authority = address.split('/', 1)[0] ?? '';
  const isPassword =
    at >= 0 &&
    (at < authority.length ||
      authority
        .split(':')
        .slice(1)
        .some((part) => !/^\d*$/.test(part)));
  const shown = word.slice(0, start) + (isPassword ? `${REDACTED}${address.slice(at)}` : address);
  return asked < 0 || start + asked + 1 === word.length ? shown : `${shown}${word[start + asked] ?? ''}${REDACTED}`;
}

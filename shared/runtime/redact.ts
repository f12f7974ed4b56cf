/** What stands for something that nobody else is to see. */
export const REDACTED = '[redacted]';

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
    REDACTED,
  ],
  // User and password of a URL, and whatever its query says.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]*@/gi, `$1${REDACTED}@`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#"'<>]*\?)[^\s"'<>]+/gi, `$1${REDACTED}`],
  // Schemes of HTTP.
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/\b(token)\s+(?=\S*\d)[A-Za-z0-9._-]{16,}/gi, `$1 ${REDACTED}`],
  // JSON web tokens; tokens of GitHub, GitLab, Slack, AWS, of bootstrap (kubeadm), of Vault.
  [/\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g, REDACTED],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|gldt-|glrt-|xox[abprs]-|hvs\.)[A-Za-z0-9_.-]{10,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, REDACTED],
  // `password: x`, `"token":"x"`, `secret = x`, also where it is escaped in a string of JSON.
  [
    /((?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|credentials?|authorization|cookie)[\\"']*\s*[:=]\s*[\\"']*)(?![\s\\"',}{[]|\[redacted)[^\s\\"',}]+/gi,
    `$1${REDACTED}`,
  ],
];

/** A text without anything that looks like a credential. It may take away more than it had to. */
export function redact(text: string): string {
  return PATTERNS.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);
}

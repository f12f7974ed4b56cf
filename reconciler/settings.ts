import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { isPolicyField } from '#shared/contract/kubelet-config/field-policy.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { createEnvReader, type EnvReader } from '#shared/runtime/env.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { ForgeSettings } from './reporting/forge/connect-forge.ts';
import { forgeApiOf } from './reporting/forge/forge-api.ts';
import { folderPathProblem } from './git/folder-path.ts';
import { escapeInvisible } from './git/plain-text.ts';
import { isRefName } from './git/ref-name.ts';
import { type ProxySettings, readProxySettings } from '#shared/http/proxy.ts';
import type { Reach } from './reporting/status-page/serve/server.ts';
import type { RewritePolicy } from './policy/commit-admission/refuse-commit.ts';

/** Everything that an operator can set; docs/reference/settings.md says what for. */
export interface ReconcilerSettings {
  readonly cluster: string;
  readonly gitUrl: string;
  readonly gitBranch: string;
  /** The folder of the repository that is the config repository: `infra/kubelet`; empty for its root. */
  readonly gitPath: string;
  /** Directory with `username` and `password`, or `token`; read again at every use. */
  readonly gitCredentialsDir: string | undefined;
  /** PEM file of a private certificate authority. */
  readonly gitCaFile: string | undefined;
  /** What may stand before the git server, the forge and receivers of notifications. */
  readonly proxy: ProxySettings;
  readonly pollMs: Millis;
  /** File with the secret of a webhook, a line each; read again at every use. Absent: no webhook. */
  readonly webhookSecretFile: string | undefined;
  readonly webhookPort: number;
  readonly onRewrite: RewritePolicy;
  /** Whether only commits are taken up that a key in `trustedKeysDir` signed. */
  readonly signedCommits: 'on' | 'off';
  /** Fields of the KubeletConfiguration that pools may set although they are denied by default. */
  readonly allowFields: readonly string[];
  readonly trustedKeysDir: string | undefined;
  /** Directory of keys that count for merges only; read again at every poll. */
  readonly mergeKeysDir: string | undefined;
  /** What has to be signed where signatures are asked for. */
  readonly signatureOn: 'commit' | 'tag' | 'either';
  /** What the names of tags begin with that count. */
  readonly signedTags: string;
  readonly notes: 'on' | 'off';
  readonly notesRef: string;
  /** Like `gitCredentialsDir`, for writing notes only. */
  readonly notesCredentialsDir: string | undefined;
  /** File of the private key that notes are signed with; read again at every use. Absent: they are not signed. */
  readonly notesSigningKeyFile: string | undefined;
  readonly notesEveryMs: Millis;
  /** undefined where no statuses are posted. */
  readonly forge: ForgeSettings | undefined;
  /** File that says who is told of what. Absent: nobody. */
  readonly notificationsFile: string | undefined;
  readonly namespace: string;
  /** Of this process; undefined outside of a pod. */
  readonly pod: string | undefined;
  readonly identity: string;
  readonly keepUnusedMs: Millis;
  /** How Prometheus is asked, and which; the token is shown to this origin only. */
  readonly prometheus: {
    readonly origins: readonly string[];
    readonly caFile: string | undefined;
    readonly token: { readonly file: string; readonly origin: string } | undefined;
  };
  readonly healthPort: number;
  readonly metricsPort: number;
  /** Who can reach the status page. */
  readonly statusPage: Reach | 'off';
  readonly statusPort: number;
  readonly kubeconfig: string | undefined;
  readonly logLevel: string;
}

/** @throws GitopsError `SETTINGS_INVALID`, which names every mistake at once */
export function readReconcilerSettings(env: Readonly<Record<string, string | undefined>>): ReconcilerSettings {
  const read = createEnvReader(env);
  const cluster = read.text('CLUSTER');
  const settings: ReconcilerSettings = {
    cluster,
    gitUrl: read.text('GIT_URL'),
    gitBranch: read.text('GIT_BRANCH', 'main'),
    gitPath: read.optional('GIT_PATH') ?? '',
    gitCredentialsDir: read.optional('GIT_CREDENTIALS_DIR'),
    gitCaFile: read.optional('GIT_CA_FILE'),
    proxy: readProxySettings(read.optional, read.mistake),
    pollMs: read.duration('POLL_INTERVAL', '60s'),
    webhookSecretFile: read.optional('WEBHOOK_SECRET_FILE'),
    webhookPort: read.integer('WEBHOOK_PORT', 8090),
    onRewrite: read.oneOf('ON_REWRITE', ['refuse', 'follow'], 'refuse'),
    signedCommits: read.oneOf('REQUIRE_SIGNED_COMMITS', ['on', 'off'], 'off'),
    trustedKeysDir: read.optional('TRUSTED_KEYS_DIR'),
    mergeKeysDir: read.optional('MERGE_KEYS_DIR'),
    signatureOn: read.oneOf('SIGNATURE_ON', ['commit', 'tag', 'either'], 'commit'),
    signedTags: read.text('SIGNED_TAGS', 'kubelet-gitops/'),
    allowFields: (read.optional('ALLOW_FIELDS') ?? '').split(/[\s,]+/).filter((field) => field !== ''),
    notes: read.oneOf('NOTES', ['on', 'off'], 'on'),
    notesRef: read.text('NOTES_REF', `refs/notes/kubelet-gitops/${cluster}`),
    notesCredentialsDir: read.optional('NOTES_CREDENTIALS_DIR') ?? read.optional('GIT_CREDENTIALS_DIR'),
    notesSigningKeyFile: read.optional('NOTES_SIGNING_KEY_PATH'),
    notesEveryMs: read.duration('NOTES_INTERVAL', '30s'),
    forge: forgeSettings(read),
    notificationsFile: read.optional('NOTIFICATIONS_FILE'),
    namespace: read.text('NAMESPACE', DEFAULT_NAMESPACE),
    pod: read.optional('POD_NAME'),
    identity: read.text('POD_NAME', `reconciler-${cluster}`),
    keepUnusedMs: read.duration('KEEP_UNUSED', '1h'),
    prometheus: prometheusSettings(read),
    healthPort: read.integer('HEALTH_PORT', 8080),
    metricsPort: read.integer('METRICS_PORT', 8082),
    statusPage: read.oneOf('STATUS_PAGE', ['local', 'cluster', 'off'], 'local'),
    statusPort: read.integer('STATUS_PORT', 8081),
    kubeconfig: read.optional('KUBECONFIG'),
    logLevel: read.oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error'], 'info'),
  };
  // The cluster's name becomes part of a file name and of a git ref.
  if (cluster !== '' && !/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(cluster)) {
    read.mistake(
      `CLUSTER=${cluster} is not a valid name: lower-case letters, digits, dots and dashes, at most 63 characters`,
    );
  }
  if (settings.signedCommits === 'on' && settings.trustedKeysDir === undefined) {
    read.mistake('REQUIRE_SIGNED_COMMITS=on without TRUSTED_KEYS_DIR would refuse every commit');
  }
  if (!isRefName(`refs/tags/${settings.signedTags}x`)) {
    read.mistake('SIGNED_TAGS is not what names of tags can begin with: write something like releases/');
  }
  const noField = settings.allowFields.find((field) => !isPolicyField(field));
  if (noField !== undefined) read.mistake(`ALLOW_FIELDS: ${noField} is not a field of a KubeletConfiguration`);
  if (read.optional('NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    read.mistake('NODE_TLS_REJECT_UNAUTHORIZED=0 would have every certificate believed: set GIT_CA_FILE instead');
  }
  const wrong = folderPathProblem(settings.gitPath);
  if (wrong !== null) read.mistake(`GIT_PATH=${escapeInvisible(settings.gitPath)} ${wrong}`);
  const mistakes = read.mistakes();
  if (mistakes.length > 0) {
    throw new GitopsError('SETTINGS_INVALID', `the reconciler cannot start: ${mistakes.join('; ')}`);
  }
  return settings;
}

function forgeSettings(read: EnvReader): ForgeSettings | undefined {
  const kind = read.oneOf('FORGE', ['off', 'github', 'gitlab', 'gitea', 'forgejo'], 'off');
  const settings = {
    gitUrl: read.optional('GIT_URL') ?? '',
    apiUrl: read.optional('FORGE_API_URL'),
    repository: read.optional('FORGE_REPOSITORY'),
    tokenFile: read.optional('FORGE_TOKEN_FILE') ?? '',
    link: read.optional('FORGE_LINK'),
    caFile: read.optional('GIT_CA_FILE'),
  };
  if (kind === 'off') return undefined;
  if (settings.tokenFile === '') read.mistake(`FORGE=${kind} needs FORGE_TOKEN_FILE`);
  // Forgejo speaks Gitea's API.
  const forge = { ...settings, kind: kind === 'forgejo' ? ('gitea' as const) : kind };
  if (forgeApiOf(forge.kind, forge) === null) {
    read.mistake('GIT_URL does not tell where the forge has its API: set FORGE_API_URL and FORGE_REPOSITORY');
  }
  return forge;
}

/** A commit names the address that is asked; the operator has to allow it here as well. */
function prometheusSettings(read: EnvReader): ReconcilerSettings['prometheus'] {
  const token = prometheusToken(read);
  const named = (read.optional('PROMETHEUS_URLS') ?? '').split(',').map((url) => url.trim());
  const origins = named
    .filter((url) => url !== '')
    .flatMap((url) => {
      if (/^https?:/.test(url) && URL.canParse(url)) return [new URL(url).origin];
      read.mistake(
        'PROMETHEUS_URLS holds what is not an address: write https://HOST or https://HOST:PORT, separated by commas',
      );
      return [];
    });
  return {
    caFile: read.optional('PROMETHEUS_CA_FILE'),
    token,
    origins: [...new Set([...origins, ...(token === undefined ? [] : [token.origin])])],
  };
}

/** A credential goes only where the operator says. */
function prometheusToken(read: EnvReader): ReconcilerSettings['prometheus']['token'] {
  const file = read.optional('PROMETHEUS_TOKEN_FILE');
  const url = read.optional('PROMETHEUS_TOKEN_URL');
  if (file === undefined && url === undefined) return undefined;
  if (file === undefined || url === undefined) {
    read.mistake('PROMETHEUS_TOKEN_FILE and PROMETHEUS_TOKEN_URL go together: the token is shown to that server only');
    return undefined;
  }
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    read.mistake('PROMETHEUS_TOKEN_URL is not an address: write https://HOST or https://HOST:PORT');
    return undefined;
  }
  return { file, origin: new URL(url).origin };
}

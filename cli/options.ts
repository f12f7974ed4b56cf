import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { isPolicyField } from '#shared/contract/kubelet-config/field-policy.ts';
import { folderPath } from '#reconciler/git/folder-path.ts';
import { minorName, minorNumber, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { type Given, UsageError, type OptionSpec, type OptionSpecs } from './command.ts';

/** Options that several commands share. */
export const CLUSTER_OPTIONS = {
  kubeconfig: { type: 'string', value: 'FILE', about: 'kubeconfig to use; default: KUBECONFIG, then ~/.kube/config' },
  context: { type: 'string', value: 'NAME', about: 'context of the kubeconfig' },
  namespace: {
    type: 'string',
    short: 'n',
    value: 'NAME',
    about: `namespace of the reconciler (default ${DEFAULT_NAMESPACE})`,
  },
} as const satisfies OptionSpecs;

/** For commands that read a config repository. */
export const PATH_OPTION = {
  path: {
    type: 'string',
    value: 'FOLDER',
    about: 'the folder that holds the config repository, as GIT_PATH (default: the root)',
  },
} as const satisfies OptionSpecs;

/** The folder that `--path` names; empty for the root. A slash at its end, as shells complete it, is no matter. @throws Mistake */
export function folderOf(given: Given): string {
  const written = (given.text('path') ?? '').replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  if (written === '.') return '';
  try {
    return folderPath(written);
  } catch (error) {
    throw new UsageError(`--path: ${reasonOf(error)}`);
  }
}

export const VERSION_OPTION = {
  'kubelet-version': {
    type: 'string',
    multiple: true,
    value: '1.34',
    about: 'minor version of the kubelet to judge by; can be given several times',
  },
} as const satisfies OptionSpecs;

export const ALLOW_OPTION = {
  'allow-field': {
    type: 'string',
    multiple: true,
    value: 'FIELD',
    about: 'what ALLOW_FIELDS of the reconciler allows; can be given several times',
  },
} as const satisfies OptionSpecs;

/** The fields that are allowed from outside of the repository. @throws Mistake */
export function allowedOutside(given: Given): readonly string[] {
  const fields = given.texts('allow-field');
  const noField = fields.find((field) => !isPolicyField(field));
  if (noField !== undefined)
    throw new UsageError(`--allow-field ${noField}: it is not a field of a KubeletConfiguration`);
  return fields;
}

/** The minor versions that were asked for, in order and once each. @throws Mistake */
export function kubeletVersions(given: Given): readonly string[] {
  const versions = given.texts('kubelet-version').map((written) => {
    const minor = /^v?1\.\d+(?:\.\d+)?$/.test(written) ? minorNumber(written) : undefined;
    if (minor === undefined) throw new UsageError(`--kubelet-version ${written}: write the minor version, 1.34`);
    if (minor < OLDEST_MINOR) {
      throw new UsageError(`--kubelet-version ${written}: the oldest that is supported is ${minorName(OLDEST_MINOR)}`);
    }
    return minorName(minor);
  });
  return [...new Set(versions)];
}

/** One of the words that an option takes. */
export function wordOf<const Word extends string>(
  given: Given,
  option: string,
  words: readonly Word[],
  otherwise: Word,
): Word {
  const written = given.text(option);
  const word = words.find((each) => each === written);
  if (written !== undefined && word === undefined) {
    throw new UsageError(`--${option} ${written}: choose one of ${words.join(', ')}`);
  }
  return word ?? otherwise;
}

/** For commands that watch. */
export const TIMEOUT_OPTION = {
  type: 'string',
  value: 'DURATION',
  about: 'how long to watch at most, such as 30m; default: no limit',
} as const satisfies OptionSpec;

/** How long a watch stays. @returns Infinity for no limit @throws Mistake */
export function timeoutOf(given: Given, isWatch: boolean): Millis {
  const written = given.text('timeout');
  if (written === undefined) return Infinity;
  if (!isWatch) throw new UsageError('--timeout needs --watch');
  const timeoutMs = parseDuration(written);
  if (timeoutMs === undefined || timeoutMs === 0)
    throw new UsageError(`--timeout ${written}: write it as 90s, 10m or 1h30m`);
  return timeoutMs;
}

/** The cluster to make a repository for. It becomes part of a file's name, as CLUSTER of the reconciler does. @throws Mistake */
export function clusterName(given: Given): string {
  const name = given.text('cluster') ?? 'default';
  if (/^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw new UsageError(
    `--cluster ${name}: it is not a valid name: lower-case letters, digits, dots and dashes, at most 63 characters`,
  );
}

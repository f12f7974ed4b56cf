import type { DistributionName } from '#shared/contract/distributions.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import type { Io } from '../io.ts';
import { progressFor } from '../progress-line.ts';
import {
  ALLOW_OPTION,
  allowedOutside,
  folderOf,
  kubeletVersions,
  PATH_OPTION,
  VERSION_OPTION,
  wordOf,
} from '../options.ts';
import { DISTRIBUTION_NAMES } from '../distribution-conflicts.ts';
import { validatePath, validateStream } from './validate-path.ts';
import { renderValidation, VALIDATION_FORMATS } from './render/render.ts';
import { findingsOf, isError, type Validation } from './validation.ts';

const FAIL_ON = ['warning', 'error'] as const;

export const VALIDATE: Command = {
  name: 'validate',
  summary: 'checks a config repository or single files; needs no cluster',
  takes: '[PATH]...',
  mostWords: 10_000,
  about: [
    'Reads a config repository as the reconciler does, or files with a KubeletConfiguration as a kubelet does, and prints\n' +
      'everything that is wrong, with file, line and column. A file with a ComputedKubeletConfiguration is tried on machines\n' +
      'of several sizes, one with NotificationReceivers read as the reconciler reads it. Without a PATH, it reads the\n' +
      'repository in the current directory; - is standard input.',
    'A repository is judged for the versions in its clusters/ and for those given; single files for those given, or for\n' +
      'the newest version that is known.',
  ],
  options: {
    ...VERSION_OPTION,
    ...ALLOW_OPTION,
    ...PATH_OPTION,
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'judge for this cluster only; default: for each in clusters/',
    },
    distribution: {
      type: 'string',
      value: 'NAME',
      words: DISTRIBUTION_NAMES,
      about: `which fields the own flags of ${DISTRIBUTION_NAMES.slice(0, -1).join(', ')} or ${DISTRIBUTION_NAMES.at(-1)} win over`,
    },
    output: {
      type: 'string',
      short: 'o',
      words: VALIDATION_FORMATS,
      about: 'for people (the default), programs, or a forge',
    },
    'fail-on': {
      type: 'string',
      words: FAIL_ON,
      about: 'what ends with exit code 1: any finding (the default) or errors only',
    },
  },
  examples: [
    'kubelet-gitops validate .',
    'kubelet-gitops validate . --kubelet-version 1.33 --kubelet-version 1.34',
    'kubelet-gitops validate /var/lib/kubelet/config.yaml --kubelet-version 1.34 -o json',
    'kubectl get --raw /api/v1/nodes/worker-1/proxy/configz | jq .kubeletconfig | kubelet-gitops validate -',
    'kubelet-gitops validate . -o github',
    'kubelet-gitops validate . --path infra/kubelet',
    'kubelet-gitops validate . --fail-on error',
    'kubelet-gitops validate . --distribution rke2',
  ],
  run: runValidate,
};

async function runValidate(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', VALIDATION_FORMATS, 'text');
  const question = {
    cluster: given.text('cluster'),
    versions: kubeletVersions(given),
    allowFields: allowedOutside(given),
    folder: folderOf(given),
    distribution: distributionOf(given),
  };
  const paths = given.words.length === 0 ? ['.'] : given.words;
  const progress = progressFor(io.err, () => performance.now());
  const each = await Promise.all(
    paths.map((path) => (path === '-' ? validateStream(io.in, question) : validatePath(path, question, progress))),
  ).finally(progress.end);
  const validation: Validation = {
    files: each.flatMap(({ files }) => files),
    about: each.length === 1 ? (each[0]?.about ?? '') : `${each.length} paths`,
  };
  io.err.write(each.map(({ aside = '' }) => aside).join(''));
  io.out.write(renderValidation(validation, format, io));
  const counts = wordOf(given, 'fail-on', FAIL_ON, 'warning') === 'warning' ? () => true : isError;
  return findingsOf(validation).some(counts) ? 1 : 0;
}

/** @throws Mistake */
const distributionOf = (given: Given): DistributionName | undefined =>
  given.text('distribution') === undefined ? undefined : wordOf(given, 'distribution', DISTRIBUTION_NAMES, 'kubeadm');

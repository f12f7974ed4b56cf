import { join } from 'node:path';
import { MAX_POOL_NAME_LENGTH } from '#shared/contract/config-map-hash.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { isDnsLabel, isLabelValue, isQualifiedName } from '#shared/contract/kubelet-config/syntax/names.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { importErrors } from '../import/import-errors.ts';
import { FORGE_OPTION, forgeOf, schemaFiles, templateFiles } from '../import/files/repository-template.ts';
import { writeNewFiles } from '../import/files/write-repository.ts';
import { clusterName, kubeletVersions, VERSION_OPTION } from '../options.ts';
import { readFolder } from '../program-files.ts';
import { type FirstPool, firstRepository } from './first-repository.ts';

/** Of a pool whose nodes nobody names. */
const WORKERS = 'node-role.kubernetes.io/worker';

export const INIT: Command = {
  name: 'init',
  summary: 'makes a config repository from the template, with names filled in; import makes one of what nodes run',
  takes: '[DIRECTORY]',
  mostWords: 1,
  about: [
    'Writes pools, layers, the cluster’s file, a pipeline, schemas for editors, CODEOWNERS and README. Without --pool there are\n' +
      'the template’s pools: control-plane, general and gpu. Overwrites nothing: if one of the files is there, it writes none.',
  ],
  options: {
    cluster: { type: 'string', value: 'NAME', about: 'name of the cluster: clusters/NAME.yaml (default: default)' },
    ...FORGE_OPTION,
    'kubelet-version': {
      ...VERSION_OPTION['kubelet-version'],
      about: 'minor version of its kubelets; can be given several times',
    },
    pool: { type: 'string', value: 'NAME', about: 'one pool of that name in place of the template’s' },
    selector: {
      type: 'string',
      value: 'KEY[=VALUE]',
      about: `label of the nodes of --pool (default ${WORKERS})`,
    },
  },
  examples: [
    'kubelet-gitops init kubelet-config --cluster prod --forge github --kubelet-version 1.34',
    'kubelet-gitops init . --cluster prod --forge gitlab --pool workers --selector pool=workers',
  ],
  run: runInit,
};

async function runInit(given: Given, io: Io): Promise<ExitCode> {
  const [into = '.'] = given.words;
  const cluster = clusterName(given);
  const minors = kubeletVersions(given).flatMap((version) => minorNumber(version) ?? []);
  const { files, schemas } = firstRepository(await readFolder('config-repo-template'), {
    cluster,
    minors,
    pool: poolOf(given),
  });
  const [fault] = importErrors(files, cluster);
  if (fault !== undefined) throw new UsageError(`nothing was written, because this would be refused: ${fault}`);
  const pools = [...files.keys()].flatMap((path) => /^pools\/(.+)\/pool\.yaml$/.exec(path)?.[1] ?? []);
  const all = new Map([
    ...files,
    ...(await schemaFiles(schemas)),
    ...(await templateFiles(cluster, pools, forgeOf(given))),
  ]);
  await writeNewFiles(into, all);
  for (const path of all.keys()) io.out.write(`${join(into, path)}\n`);
  for (const line of nextSteps(into, cluster)) io.err.write(`${line}\n`);
  return 0;
}

/** @throws Mistake */
function poolOf(given: Given): FirstPool | undefined {
  const name = given.text('pool');
  const selector = given.text('selector') ?? WORKERS;
  if (name === undefined) {
    if (given.text('selector') !== undefined) throw new UsageError('--selector needs --pool');
    return undefined;
  }
  if (!isDnsLabel(name, MAX_POOL_NAME_LENGTH)) {
    throw new UsageError(
      `--pool ${name}: it is not a valid name: lower-case letters, digits and dashes, at most ${MAX_POOL_NAME_LENGTH} characters`,
    );
  }
  const [key = '', value = '', ...more] = selector.split('=');
  if (!isQualifiedName(key) || !isLabelValue(value) || more.length > 0) {
    throw new UsageError(`--selector ${selector}: it is not a label: write KEY or KEY=VALUE`);
  }
  return { name, selector };
}

const nextSteps = (into: string, cluster: string): readonly string[] => [
  'next:',
  '  check the selectors in pools/*/pool.yaml, and the reservations in base/common.yaml against your smallest node',
  '  enter your teams in CODEOWNERS, and what the comments of your pipeline ask for',
  `  kubelet-gitops validate ${into}`,
  `  commit it, and see what it would do to your nodes: kubelet-gitops plan --repo ${into} --cluster ${cluster} --inventory nodes.json`,
];

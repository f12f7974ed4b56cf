import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { findConnectionMethod } from '#reconciler/cluster/kube/connect-kube.ts';
import { KUBELET_NODES, KUBELET_POOLS, type Resource } from '#shared/kube/kube.ts';
import type { Command, Given } from '../command.ts';
import { connectTo } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { openRepository } from '../revision/local-repository.ts';
import type { NameSource } from './candidates.ts';
import { isMap } from '#shared/runtime/maps.ts';

const NAMESPACES: Resource = {
  ...KUBELET_NODES,
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
};

/** Where names are looked up. */
export interface LookupContext {
  readonly command: Command;
  readonly given: Given;
  readonly io: Io;
}

/**
 * The names of one source. What cannot be asked has none.
 *
 * @throws whatever the file system and the API server throw; the signal ends a call that takes too long
 */
export async function lookUpNames(
  source: NameSource,
  place: LookupContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (source === 'revisions') return (await revisions(place)).filter((name) => REVISION.test(name));
  if (source !== 'contexts') return (await objectNames(source, place, signal)).filter((name) => NAME.test(name));
  return (await kubeconfigs(place)).flatMap((config) => named(config['contexts']).map(({ name }) => name));
}

/** Folders with other names are no pools. */
const NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

async function objectNames(
  source: Exclude<NameSource, 'contexts' | 'revisions'>,
  place: LookupContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  switch (source) {
    case 'clusters':
      return (await entries(place, 'clusters')).flatMap((name) => /^(.+)\.ya?ml$/.exec(name)?.[1] ?? []);
    case 'pools': {
      const ours = await entries(place, 'pools');
      return ours.length > 0 ? ours : inCluster(KUBELET_POOLS, place, signal);
    }
    case 'nodes':
      return inCluster(KUBELET_NODES, place, signal);
    case 'namespaces':
      return inCluster(NAMESPACES, place, signal);
  }
}

/** Such as git itself lets a ref be called, without what a shell acts on. */
const REVISION = /^[A-Za-z0-9][\w./+-]*$/;

/** Branches, those of remotes, and tags. */
async function revisions({ given }: LookupContext): Promise<readonly string[]> {
  const repository = await openRepository(athome(given.text('repo') ?? '.'));
  const places = ['refs/heads', 'refs/remotes', 'refs/tags'].map((prefix) =>
    repository.refs(prefix).then(
      (refs) => [...refs.keys()],
      () => [],
    ),
  );
  return ['HEAD', ...(await Promise.all(places)).flat().filter((name) => !name.endsWith('/HEAD'))];
}

/** What a folder of the config repository holds; nothing for a missing folder. */
async function entries({ given }: LookupContext, folder: string): Promise<readonly string[]> {
  const repository = athome(given.text('repo') ?? '.');
  return readdir(join(repository, given.text('path') ?? '', folder)).catch(() => []);
}

/** The shell hands on `~` as it was typed. */
const athome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir());

async function inCluster(resource: Resource, place: LookupContext, signal: AbortSignal): Promise<readonly string[]> {
  if (!Object.hasOwn(place.command.options, 'context') || (await mayAskAPerson(place))) return [];
  const kube = await connectTo(place.given, place.io);
  const { items } = await kube.list({ resource }, signal);
  return items.map(({ metadata }) => metadata.name);
}

/**
 * Whether the credentials come from a program that may ask for a password or open a browser: a person does not expect that of the tab
 * key. One that says that it never does (`interactiveMode: Never`) is run.
 */
async function mayAskAPerson(place: LookupContext): Promise<boolean> {
  const configs = await kubeconfigs(place);
  const current = configs
    .map((config) => config['current-context'])
    .find((name) => typeof name === 'string' && name !== '');
  const wanted = place.given.text('context') ?? current;
  const first = (list: string, name: unknown): Readonly<Record<string, unknown>> =>
    configs.flatMap((config) => named(config[list])).find((entry) => entry.name === name)?.entry ?? {};
  const { context } = first('contexts', wanted);
  const { user } = first('users', isMap(context) ? context['user'] : undefined);
  if (!isMap(user)) return false;
  const { exec } = user;
  return user['auth-provider'] !== undefined || (isMap(exec) && exec['interactiveMode'] !== 'Never');
}

async function kubeconfigs({
  given,
  io: { env },
}: LookupContext): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const path = given.text('kubeconfig');
  const way = findConnectionMethod({ env, kubeconfigPath: path === undefined ? undefined : athome(path) }, existsSync);
  if (way.by !== 'kubeconfig') return [];
  const texts = await Promise.all(way.paths.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.map((text): unknown => parse(text)).filter(isMap);
}

function named(list: unknown): readonly { readonly name: string; readonly entry: Readonly<Record<string, unknown>> }[] {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return items.flatMap((entry) =>
    isMap(entry) && typeof entry['name'] === 'string' ? [{ name: entry['name'], entry }] : [],
  );
}

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FileSystemSpace } from '#agent/host/host-files.ts';
import type { ConfigForHost, HostFacts } from '#agent/preflight/host-facts.ts';
import { checkOnHost } from '#agent/preflight/preflight.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { NO_FACTS } from '../../../support/agent/no-facts.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const CONFIG = '/var/lib/kubelet/config.yaml';
export const GIB = 2 ** 30;

export function candidate(config: Fields, minor = 34, parts: Partial<ConfigForHost> = {}): ConfigForHost {
  return {
    view: viewOf(config, minor, 'replace'),
    fromFiles: config,
    assigned: config,
    configFile: CONFIG,
    configDirectory: undefined,
    version: `v1.${minor}.0`,
    asDropIn: false,
    ...parts,
  };
}

/** What preflight finds on a machine of which these facts are known: `severity code field` of each finding. */
export const found = (
  config: Fields,
  facts: Partial<HostFacts>,
  minor = 34,
  parts: Partial<ConfigForHost> = {},
): readonly string[] =>
  checkOnHost(candidate(config, minor, parts), { ...NO_FACTS, ...facts }).map(
    ({ severity, code, field }) => `${severity} ${code} ${field}`,
  );

export const cpus = (count: number): ReadonlySet<number> => new Set(Array.from({ length: count }, (_, index) => index));
export const args = (...flags: readonly string[]) => ({ kubeletArgs: [`--config=${CONFIG}`, ...flags] });

/** A file system of 10 GiB, empty but for what is said. */
export const room = (left: Partial<FileSystemSpace> = {}): FileSystemSpace => ({
  bytes: 10 * GIB,
  availableBytes: 10 * GIB,
  inodes: 1_000,
  freeInodes: 1_000,
  ...left,
});

/** What is the matter; the config; the machine; what is found; the minor version where it is not 34. */
export type Row = readonly [string, Fields, Partial<HostFacts>, readonly string[], number?];

/** A test for each row. */
export function checkRows(rows: readonly Row[]): void {
  for (const [matter, config, facts, expected, minor] of rows) {
    it(`says of ${matter}: ${expected.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(found(config, facts, minor), expected);
    });
  }
}

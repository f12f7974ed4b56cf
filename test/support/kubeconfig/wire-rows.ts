import { clusterRows } from './cluster-rows.ts';
import { fileRows } from './file-rows.ts';
import { pluginRows } from './plugin-rows.ts';
import { proxyRows } from './proxy-rows.ts';
import { userRows } from './user-rows.ts';
import type { WireRow } from './wire-row.ts';
import type { WireWorld } from './wire-world.ts';

/** Every kubeconfig that is tried, by what it is about. */
export const WIRE_ROWS: readonly (readonly [about: string, rowsOf: (world: WireWorld) => readonly WireRow[]])[] = [
  ['users', userRows],
  ['clusters', clusterRows],
  ['credential plugins', pluginRows],
  ['proxies', proxyRows],
  ['files', fileRows],
];

import assert from 'node:assert/strict';
import { DROP_IN_NAME } from '#agent/kubelet/install-drop-ins.ts';
import { renderManaged } from '#agent/kubelet/install-marker.ts';
import type { Installable, Installer } from '#agent/ports/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createMemoryDisk, type MemoryDisk } from '../../../support/agent/memory-disk.ts';
import { installerOn } from '../../../support/agent/installer-on.ts';

export const CONFIG = '/var/lib/kubelet/config.yaml';
export const DROP_INS = '/etc/kubernetes/kubelet.conf.d';
export const DROP_IN = `${DROP_INS}/${DROP_IN_NAME}`;
export const STATE = '/var/lib/kubelet-gitops';
export const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
export const LOCAL = `${HEAD}# by kubeadm\nmaxPods: 42\nclusterDomain: cluster.local\n`;

export const payload = (fields: Readonly<Record<string, unknown>>): string => canonicalize(fields);
export const managed = (fields: Readonly<Record<string, unknown>>): string => renderManaged(fields).toString('utf8');
export const overlay = (fields: Readonly<Record<string, unknown>>): Installable => ({
  payload: payload(fields),
  apply: 'overlay',
});
export const replace = (fields: Readonly<Record<string, unknown>>): Installable => ({
  payload: payload(fields),
  apply: 'replace',
});
export const failsWith =
  (code: string, message = /./) =>
  (error: unknown) =>
    codeOf(error) === code && error instanceof Error && message.test(error.message);

/** A node's disk with what kubeadm left there, and an installer for it. */
export interface Bench {
  readonly disk: MemoryDisk;
  readonly installer: Installer;
  /** Plans and installs. */
  install(config: Installable | null): Promise<void>;
  text(path: string): string | undefined;
}

export interface BenchOptions {
  readonly minor?: string;
  readonly dropIns?: boolean;
  /** null: no file. */
  readonly local?: string | null;
  /** Left behind by another process; then nothing is planted. */
  readonly disk?: MemoryDisk;
}

export function prepare({
  minor = '1.34',
  dropIns = true,
  local = LOCAL,
  disk = provisioned(local),
}: BenchOptions = {}): Bench {
  const installer = installerOn(disk, {
    dropInDirectory: dropIns ? DROP_INS : undefined,
    kubeletMinor: async () => minor,
  });
  return {
    disk,
    installer,
    async install(config) {
      const plan = await installer.plan(config);
      await installer.install(plan);
      assert.ok(await installer.isInstalled(plan), 'it is installed');
      assert.ok(await installer.isInstalled(await installer.plan(config)), 'so says a plan that is made again');
    },
    text: (path) => disk.tree()[path],
  };
}

function provisioned(local: string | null): MemoryDisk {
  const disk = createMemoryDisk();
  for (const directory of ['/etc', '/etc/kubernetes', DROP_INS, '/var', '/var/lib', '/var/lib/kubelet']) {
    disk.plant(directory, { directory: true });
  }
  if (local !== null) disk.plant(CONFIG, local);
  return disk;
}

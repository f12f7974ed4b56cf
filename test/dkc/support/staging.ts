import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import type { StageResult } from '#agent/decide/observation.ts';
import { stageConfig } from '#agent/staging/stage.ts';
import type { Config } from '#agent/decide/state.ts';
import { appendHash, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { createFakeKube, type FakeKube } from '../../support/agent/fake-kube.ts';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { createMemoryDisk, type MemoryDisk } from '../../support/agent/memory-disk.ts';
import { A } from '../../support/agent/states.ts';
import { LOCAL_FILE, STATE } from '../../support/agent/whole-node.ts';
import { installerOn } from '../../support/agent/installer-on.ts';

const NAMESPACE = 'kubelet-gitops';
const never = new AbortController().signal;

/** Where configs are fetched and checked, with an API server, a disk and a real installer, and without a kubelet. */
export interface StagingBench {
  readonly kube: FakeKube;
  readonly disk: MemoryDisk;
  stage(config: Config): Promise<StageResult>;
  /** Puts a ConfigMap under kubectl's name for its content. @returns a config that refers to it */
  source(data: Readonly<Record<string, string>> | null, key?: string): Config;
}

export function stagingBench(): StagingBench {
  const kube = createFakeKube();
  const disk = createMemoryDisk();
  disk.plant('/var/lib/kubelet', { directory: true });
  disk.plant(CONFIG_FILE, LOCAL_FILE);
  const { payloads } = createCheckpointStore(disk, STATE, 'node-a');
  const kubeletMinor = (): Promise<string> => Promise.resolve('1.34');
  const installer = installerOn(disk, { kubeletMinor });
  return {
    kube,
    disk,
    stage: (config) =>
      stageConfig(
        config,
        {
          kube,
          payloads,
          installer,
          validate: validateKubeletConfig,
          preflight: () => [],
          lookAtNode: () => Promise.resolve({ kubeletVersion: 'v1.34.2' }),
        },
        never,
      ),
    source(data, key = 'kubelet') {
      const name = `general-${appendHash({ name: 'general', data })}`;
      kube.put('configmaps', { metadata: { name, namespace: NAMESPACE }, ...(data === null ? {} : { data }) });
      const sha256 = payloadSha256(data?.[key] ?? '');
      return { ...A, source: { ...A.source, namespace: NAMESPACE, name, uid: `uid-${name}`, key, sha256 } };
    },
  };
}

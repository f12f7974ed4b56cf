import { readFile } from 'node:fs/promises';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';

/**
 * What a kubelet runs, from a file: a KubeletConfiguration, or what `/configz` answers.
 *
 * @throws GitopsError `NO_KUBELET_CONFIG`
 */
export async function readRunningConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new GitopsError('NO_KUBELET_CONFIG', `${path} cannot be read: ${reasonOf(error)}`);
  });
  try {
    const answer = JSON.parse(bytes.toString('utf8')) as { readonly kubeletconfig?: Readonly<Record<string, unknown>> };
    if (answer.kubeletconfig !== undefined) return answer.kubeletconfig;
  } catch {
    // YAML then.
  }
  const { value, findings } = decodeKubeletConfig(bytes, path);
  if (value !== undefined) return value;
  throw new GitopsError('NO_KUBELET_CONFIG', `${path} holds no KubeletConfiguration: ${findings[0]?.message ?? ''}`);
}

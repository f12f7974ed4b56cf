import { readFile } from 'node:fs/promises';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';
import { mapOf } from '#shared/runtime/maps.ts';

/**
 * What a kubelet runs, from a file: a KubeletConfiguration, or what `/configz` answers.
 *
 * @throws GitopsError `NO_KUBELET_CONFIG`
 */
export async function readRunningConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new GitopsError('NO_KUBELET_CONFIG', `${path} cannot be read: ${reasonOf(error)}`);
  });
  const answer = mapOf(jsonIn(bytes.toString('utf8')))['kubeletconfig'];
  if (answer !== undefined) return answer as Readonly<Record<string, unknown>>;
  const { value, findings } = decodeKubeletConfig(bytes, path);
  if (value !== undefined) return value;
  throw new GitopsError('NO_KUBELET_CONFIG', `${path} holds no KubeletConfiguration: ${findings[0]?.message ?? ''}`);
}

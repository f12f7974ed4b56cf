import { templateFiles, withFields } from '#sandbox/demo/template-repository.ts';

/** A config repository of so many pools, two files each, over a common layer. */
export async function manyPools(count: number): Promise<Readonly<Record<string, string>>> {
  const template = await templateFiles();
  const [pool = '', layer = ''] = [template['pools/general/pool.yaml'], template['pools/general/kubelet.yaml']];
  const files: Record<string, string> = { 'base/common.yaml': template['base/common.yaml'] ?? '' };
  for (let index = 0; index < count; index += 1) {
    files[`pools/p${index}/pool.yaml`] = pool;
    files[`pools/p${index}/kubelet.yaml`] = withFields(layer, { maxPods: 100 + index });
  }
  return files;
}

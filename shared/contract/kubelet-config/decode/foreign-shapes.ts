import { isMap } from '../../../runtime/maps.ts';

/** How the files of programs begin that encrypt whole files. */
const ENCRYPTED: readonly (readonly [start: string, program: string])[] = [
  ['$ANSIBLE_VAULT;', 'ansible-vault'],
  ['\0GITCRYPT\0', 'git-crypt'],
  ['-----BEGIN PGP MESSAGE-----', 'OpenPGP'],
  ['-----BEGIN AGE ENCRYPTED FILE-----', 'age'],
  ['age-encryption.org/', 'age'],
];

/** What a file was encrypted with, by how its text begins. */
export const encryptedBy = (text: string): string | undefined =>
  ENCRYPTED.find(([start]) => text.startsWith(start))?.[1];

/** Whether SOPS encrypted values of a file: it leaves a record of it beside them. */
export const isOfSops = (value: unknown): boolean =>
  isMap(value) && isMap(value['sops']) && ('mac' in value['sops'] || 'lastmodified' in value['sops']);

/** What is to be done about an encrypted file. */
export const DECRYPT =
  'commit it decrypted: nodes get it as it is in the commit, and what has to be secret does not belong in it';

/** A merge that was not finished. A row of equals signs alone may be a person's. */
export const hasConflict = (text: string): boolean => /^(?:<{7}|>{7})(?: |$)/m.test(text);

/** Where the files of others hold the fields of a kubelet. The first that is there counts. */
const WRAPPERS: readonly (readonly string[])[] = [
  // OpenShift's KubeletConfig
  ['spec', 'kubeletConfig'],
  // Talos' machine config
  ['machine', 'kubelet', 'extraConfig'],
  // EKS's NodeConfig
  ['spec', 'kubelet', 'config'],
  // kops, Karpenter, Deckhouse, Gardener
  ['spec', 'kubelet'],
  ['spec', 'template', 'spec', 'kubelet'],
  ['spec', 'kubernetes', 'kubelet'],
  // GKE's system config
  ['kubeletConfig'],
];

const CLAIM = /kind"?: *"?KubeletConfiguration/;

/**
 * What is to be done with a file of another kind that people take for a KubeletConfiguration, because there is one in it.
 *
 * @returns undefined where nothing is known of it
 */
export function wrapperAdvice(file: Readonly<Record<string, unknown>>): string | undefined {
  if (isMap(file['kubeletconfig']))
    return 'this is an answer of /configz: import takes it, and a kubelet what is in kubeletconfig';
  if (file['kind'] === 'KubeletPool') return 'a pool is judged with its repository: give the directory';
  if (String(file['apiVersion']).startsWith('kubeadm.k8s.io/'))
    return 'this is a config of kubeadm: give the document of the kind KubeletConfiguration';
  if (Object.keys(file).some((key) => /^kubelet-arg\+?$/.test(key)))
    return 'k3s and RKE2 have flags in kubelet-arg: write the fields of the same name, such as maxPods for max-pods';
  const data = file['kind'] === 'ConfigMap' && isMap(file['data']) ? file['data'] : {};
  const held = Object.entries(data).find(([, text]) => typeof text === 'string' && CLAIM.test(text));
  if (held !== undefined) return `the config is the text in data.${held[0]}: give that`;
  const wrapper = WRAPPERS.find((path) =>
    isMap(path.reduce<unknown>((at, key) => (isMap(at) ? at[key] : undefined), file)),
  );
  return wrapper && `the config is what is in ${wrapper.join('.')}: give that, with apiVersion and kind above it`;
}

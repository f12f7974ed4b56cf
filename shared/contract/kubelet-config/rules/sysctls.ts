import { abbreviateJson } from '../decode/abbreviate-json.ts';
import type { ConfigView } from '../config-view.ts';
import { needsGate, type Rule } from './rule.ts';

/** Kernel parameters that pods may have values of their own of. */
export const SYSCTL_RULES: readonly Rule[] = [
  function* allowedUnsafeSysctls(config) {
    for (const [index, pattern] of config.texts('allowedUnsafeSysctls').entries()) {
      // Slashes came with 1.23.
      const isPattern = PATTERN.test(pattern) && (config.minor >= 23 || !pattern.includes('/'));
      if (isPattern && pattern.length <= LONGEST && isNamespaced(dotted(pattern).replace(/\*.*/, ''), config)) continue;
      // Read at its start, long after the validation. Only a warning: the verdict is about what the kubelet makes of the file.
      const what = `${abbreviateJson(pattern)} is not a sysctl that can be set for one pod alone`;
      yield {
        code: 'fails-at-start',
        severity: 'warning',
        at: ['allowedUnsafeSysctls', index],
        message: `${what}: the kubelet takes the file, and exits when it comes to it`,
        suggestion: `allow only ${namespacedHere(config)}`,
      };
    }
  },
  // ValidateKubeletConfiguration of 1.37.
  function* defaultPodSysctls(config) {
    const names = config.entries('defaultPodSysctls').map(([name]) => name);
    if (names.length === 0 || config.minor < 37) return;
    if (!config.gate('DefaultPodSysctls')) {
      yield needsGate('defaultPodSysctls', 'DefaultPodSysctls');
      return;
    }
    const seen = new Set<string>();
    for (const name of names) {
      const at = ['defaultPodSysctls', name];
      const same = dotted(name);
      if (!NAME.test(name) || name.length > LONGEST) {
        yield { code: 'bad-name', at, message: `${abbreviateJson(name)} is not the name of a sysctl` };
        continue;
      }
      if (!isNamespaced(same, config)) {
        const message = `${abbreviateJson(name)} cannot be set for one pod alone`;
        yield { code: 'unknown-value', at, message, suggestion: `set only ${namespacedHere(config)}` };
      }
      if (seen.has(same)) {
        const message = `${abbreviateJson(name)} is there twice: with dots, and with slashes`;
        yield { code: 'duplicate-item', at, message };
      }
      seen.add(same);
    }
  },
];

const SEGMENT = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?';
const NAME = new RegExp(String.raw`^(?:${SEGMENT}[./])*${SEGMENT}$`);
const PATTERN = new RegExp(String.raw`^(?:${SEGMENT}[./])*(?:${SEGMENT}|[a-z0-9][-_a-z0-9]*\*|\*)$`);
const LONGEST = 253;

/** `net/ipv4/conf/eno2.100/rp_filter` is `net.ipv4.conf.eno2/100.rp_filter`: the first separator counts (NormalizeName, component-helpers). */
function dotted(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '.' ? '/' : '.'));
}

const IPC = ['shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg', 'sem'];
const EXACT: ReadonlySet<string> = new Set(IPC.map((name) => `kernel.${name}`));

/** k8s.io/component-helpers/node/util/sysctl/namespace.go of 1.30 to 1.37; before, all that begins so. */
function isNamespaced(name: string, { minor }: ConfigView): boolean {
  const prefixes = ['net.', 'fs.mqueue.', ...(minor < 37 ? [] : ['user.'])];
  if (prefixes.some((prefix) => name.startsWith(prefix))) return true;
  if (minor < 30) return name === 'kernel.sem' || name.startsWith('kernel.shm') || name.startsWith('kernel.msg');
  return EXACT.has(name) || (minor >= 37 && name === 'kernel.domainname');
}

const namespacedHere = ({ minor }: ConfigView): string =>
  minor < 37
    ? 'kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* and net.*'
    : 'kernel.shm*, kernel.msg*, kernel.sem, kernel.domainname, fs.mqueue.*, net.* and user.*';

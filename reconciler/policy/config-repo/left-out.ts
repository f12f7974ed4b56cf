import { MAX_POOL_NAME_LENGTH } from '#shared/contract/config-map-hash.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { isDnsLabel } from '#shared/contract/kubelet-config/syntax/names.ts';
import { foldersOf } from '../in-folder.ts';

/** What is not among a commit's files, such as links and files that are too big, and who asked for it. */
export interface LeftOut {
  /** What keeps a path from being used: it, or a folder that it is in, was left out. Undefined where nothing was. */
  at(path: string): Finding | undefined;
  /** Folders of `pools/` that something was left out of, and what may have been one. */
  readonly poolNames: readonly string[];
  /**
   * What is worth telling: of files, what was asked for. What nobody refers to keeps nothing from working, whatever it is; a
   * warning is about something that is not found.
   */
  told(): readonly Finding[];
}

/** @param inside a path of the repository from the folder that is followed */
export function leftOutOf(findings: readonly Finding[], inside: (path: string) => string): LeftOut {
  const pathOf = ({ file = '' }: Finding): string => inside(file);
  const byPath = new Map(
    findings.flatMap((finding) =>
      finding.file === undefined ? [] : [[pathOf(finding).replace(/\/$/, ''), finding] as const],
    ),
  );
  const asked = new Set<Finding>();
  return {
    at(path) {
      const found = [path, ...foldersOf(path)].flatMap((each) => byPath.get(each) ?? [])[0];
      if (found !== undefined) asked.add(found);
      return found;
    },
    poolNames: findings.flatMap((finding) => poolOf(pathOf(finding)) ?? []),
    told: () =>
      findings.filter((finding) => finding.file === undefined || finding.severity === 'warning' || asked.has(finding)),
  };
}

/** A link or a submodule in `pools/` may stand for a pool's folder if its name can be a pool's. A README cannot. */
function poolOf(path: string): string | undefined {
  const [, name = '', rest] = /^pools\/([^/]+)(\/(?:$|[^.]))?/.exec(path) ?? [];
  return rest !== undefined || (path === `pools/${name}` && isDnsLabel(name, MAX_POOL_NAME_LENGTH)) ? name : undefined;
}

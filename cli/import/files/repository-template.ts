import { readFile } from 'node:fs/promises';
import { programFile, readFolder } from '../../program-files.ts';
import type { Given, OptionSpecs } from '../../command.ts';
import { wordOf } from '../../options.ts';

/** Whose pipelines a repository has. Gitea and Forgejo run GitHub's. */
const FORGES = ['github', 'gitlab', 'gitea', 'forgejo', 'other'] as const;
type Forge = (typeof FORGES)[number];

export const FORGE_OPTION = {
  forge: { type: 'string', words: FORGES, about: 'whose pipeline is written (default: those of GitHub and of GitLab)' },
} as const satisfies OptionSpecs;

/** @throws Mistake */
export const forgeOf = (given: Given): Forge | undefined =>
  given.text('forge') === undefined ? undefined : wordOf(given, 'forge', FORGES, 'other');

const GITHUB = '.github/workflows/kubelet-config.yaml';
const GITLAB = '.gitlab-ci.yml';

/** What a team copies of the template beside its pools. */
const TEMPLATE_FILES: ReadonlySet<string> = new Set([
  'README.md',
  'CODEOWNERS',
  GITHUB,
  GITLAB,
  'scripts/publish-inventory.sh',
  'scripts/show-notes.sh',
]);

/** What speaks of the template's own example. */
const OF_THE_EXAMPLE = /^- `(?:clusters\/demo\.yaml|base\/common\.yaml)`/;

/**
 * The template's own files, made to speak of this cluster and these pools: path → text.
 *
 * @param forge undefined: nobody knows, so there are the pipelines of all
 * @throws GitopsError `TEMPLATE_MISSING`
 */
export async function templateFiles(
  cluster: string,
  pools: readonly string[],
  forge?: Forge,
): Promise<ReadonlyMap<string, string>> {
  const unwanted = pipelinesOfOthers(forge);
  const files = [...(await readFolder('config-repo-template'))].filter(
    ([path]) => TEMPLATE_FILES.has(path) && !unwanted.includes(path),
  );
  return new Map(files.map(([path, text]) => [path, adapt(path, text, cluster, pools, unwanted)]));
}

/** Schemas for editors: path → text. @param names of files in `schemas/` */
export async function schemaFiles(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = await Promise.all(names.map((name) => readFile(programFile(`schemas/${name}`), 'utf8')));
  return new Map(names.map((name, index) => [`.schemas/${name}`, texts[index] ?? '']));
}

function pipelinesOfOthers(forge: Forge | undefined): readonly string[] {
  if (forge === undefined) return [];
  if (forge === 'other') return [GITHUB, GITLAB];
  return forge === 'gitlab' ? [GITHUB] : [GITLAB];
}

function adapt(
  path: string,
  text: string,
  cluster: string,
  pools: readonly string[],
  unwanted: readonly string[],
): string {
  const lines = text.split('\n');
  switch (path) {
    case 'CODEOWNERS':
      return lines
        .filter((line) => !isOfOtherPool(line, pools) && !unwanted.some((file) => isOwned(line, file)))
        .join('\n')
        .replaceAll(/\n{3,}/g, '\n\n');
    case 'README.md':
      return lines
        .filter((line) => !OF_THE_EXAMPLE.test(line))
        .flatMap((line) => withoutPipelines(line, unwanted))
        .join('\n')
        .replaceAll(/(--cluster |publish-inventory\.sh )demo\b/g, `$1${cluster}`);
    default:
      return text;
  }
}

function isOfOtherPool(line: string, pools: readonly string[]): boolean {
  const [, pool] = /^\/pools\/([^/]+)\//.exec(line) ?? [];
  return pool !== undefined && !pools.includes(pool);
}

/** Whether a line of CODEOWNERS is about this file, or the folder at the root that holds it. */
const isOwned = (line: string, file: string): boolean => {
  const [pattern = ''] = line.split(' ');
  return pattern.length > 1 && `/${file}`.startsWith(pattern);
};

/** A line of the README that names pipelines: without those that are not there, or gone with all of them. */
function withoutPipelines(line: string, unwanted: readonly string[]): readonly string[] {
  const [, , named, rest = ''] = /^(\| |- )(`\.github\/\S+`(?: or|,) `\.gitlab-ci\.yml`)(.*)$/.exec(line) ?? [];
  if (named === undefined || unwanted.length === 0) return [line];
  const kept = named.split(/ or |, /).filter((name) => !unwanted.some((file) => file.startsWith(name.slice(1, -1))));
  if (kept.length === 0) return [];
  const said = rest.replace(/\. Keep the one of your forge \(.*?\)/, '').replace(/; delete the other file/, '');
  return [`${line.slice(0, 2)}${kept.join('')}${said}`];
}

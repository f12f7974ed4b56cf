import { readFileSync } from 'node:fs';

/** An error by which a kubelet ends at its start: a row of the page. */
interface StartError {
  readonly error: string;
  /** The function of Kubernetes that returns it or exits, and its package: `RunKubelet (cmd/kubelet/app)`. */
  readonly source: string;
  /** Codes of findings. Without any the trial sees it first. */
  readonly validate: readonly string[];
  readonly preflight: readonly string[];
  /** Why nobody says it before the trial. */
  readonly why: string;
}

const codesIn = (text: string): readonly string[] => [...text.matchAll(/`([a-z0-9-]+)`/g)].map(([, code = '']) => code);

/** The rows of docs/reference/kubelet-start-errors.md, in its order. */
export function startErrors(): readonly StartError[] {
  const sections = readFileSync('docs/reference/kubelet-start-errors.md', 'utf8').split(/^## /m);
  return sections.flatMap((section, index) =>
    [...section.matchAll(/^\| (.+) \| (.+) \| (.*) \|$/gm)].slice(2).map(([, error = '', source = '', said = '']) => {
      const [byConfig = '', byMachine = ''] = index === 2 ? ['', said] : said.split('; by the machine ');
      const codes = { validate: codesIn(byConfig), preflight: codesIn(byMachine), why: '' };
      const about = index < 3 ? codes : { validate: [], preflight: [], why: said };
      return { error, source: source.replaceAll('`', ''), ...about };
    }),
  );
}

import { YamlSyntaxError } from './cursor.ts';
import type { Directive, Tokens, WrittenTag } from './tokens.ts';

/** What the directives at the head of a document say its short tags stand for. */
interface TagHandles {
  /** Reads the directives that come next, if any. @throws YamlSyntaxError */
  read(tokens: Pick<Tokens, 'peek' | 'skip'>): void;
  /** The tag in full. @throws YamlSyntaxError at `start` where no directive says what its handle stands for */
  longTag(tag: WrittenTag, start: number): string;
}

/** As go-yaml v2 has them: those of every document, until a directive says otherwise. */
const STANDARD = [
  ['!', '!'],
  ['!!', 'tag:yaml.org,2002:'],
] as const;

export function createTagHandles(): TagHandles {
  const prefixes = new Map<string, string>();

  function judgeVersion(directive: Directive & { type: 'version' }, isSecond: boolean, start: number): void {
    if (isSecond) throw new YamlSyntaxError('there are two %YAML directives', start);
    if (!directive.isKnown) throw new YamlSyntaxError(`the kubelet refuses %YAML ${directive.version}`, start);
  }

  return {
    read(tokens) {
      let hasVersion = false;
      for (let token = tokens.peek(); token.type === 'directive'; token = tokens.peek()) {
        const { directive, start } = token;
        if (directive.type === 'version') {
          judgeVersion(directive, hasVersion, start);
          hasVersion = true;
        } else {
          const { handle, prefix } = directive;
          if (prefixes.has(handle)) throw new YamlSyntaxError(`there are two %TAG directives for ${handle}`, start);
          prefixes.set(handle, prefix);
        }
        tokens.skip();
      }
    },
    longTag({ handle, suffix }, start) {
      if (handle === '') return suffix;
      const prefix = prefixes.get(handle) ?? STANDARD.find(([known]) => known === handle)?.[1];
      if (prefix === undefined) throw new YamlSyntaxError(`no %TAG says what ${handle} stands for`, start);
      return prefix + suffix;
    },
  };
}

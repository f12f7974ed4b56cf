import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { SENTENCES } from './config.ts';

/** As much of a Babel node as is looked at here. */
interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Path {
  readonly node: Node;
  readonly parentPath: Path | null;
  readonly scope: { getBinding(name: string): { readonly referencePaths: readonly Path[] } | undefined };
}

/** A word beside a space: what no identifier and no constant of a protocol holds. */
const WORDS = /[a-z,;:.)]{2,} | [a-z(]{2,}/i;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const nodes = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const isEmpty = (node: unknown): boolean => isNode(node) && node.type === 'StringLiteral' && node['value'] === '';

/** Whether it is nothing but a sentence or a part of one: a test that notices another word there would read words. */
function isText(node: unknown): boolean {
  if (!isNode(node)) return false;
  switch (node.type) {
    case 'StringLiteral':
      return WORDS.test(String(node['value']));
    case 'TemplateLiteral':
      return WORDS.test(
        nodes(node['quasis'])
          .map(({ value }) => (value as { raw: string }).raw)
          .join('\0'),
      );
    case 'BinaryExpression':
      return node['operator'] === '+' && (isText(node['left']) || isText(node['right']));
    case 'ConditionalExpression':
      return areTexts([node['consequent'], node['alternate']]);
    case 'ArrayExpression':
      return areTexts(node['elements'] as readonly unknown[]);
    case 'ArrowFunctionExpression':
    case 'FunctionDeclaration':
      return isNode(node['body']) && node['body'].type === 'BlockStatement'
        ? areTexts(returned(node['body']))
        : isText(node['body']);
    default:
      return false;
  }
}

const areTexts = (all: readonly unknown[]): boolean =>
  all.some(isText) && all.every((each) => isText(each) || isEmpty(each));

/** What a block gives back, without the functions within it. */
function returned(node: Node): readonly unknown[] {
  if (node.type === 'ReturnStatement') return [node['argument']];
  if (node.type.includes('Function')) return [];
  return Object.values(node).flatMap((value) => [...nodes([value]), ...nodes(value)].flatMap(returned));
}

/** Whether a name is used in texts only, so that what it stands for is a part of them. */
function isForTextOnly(path: Path, name: string, asked: readonly string[] = []): boolean {
  const uses = path.scope.getBinding(name)?.referencePaths ?? [];
  return uses.length > 0 && uses.every((use) => isWithinText(use, [...asked, name]));
}

function isWithinText(path: Path, asked: readonly string[]): boolean {
  for (let at: Path | null = path; at !== null; at = at.parentPath) {
    if (isText(at.node) || isSentence(at.node)) return true;
    const name = nameOf(at.node);
    if (name !== undefined) return !asked.includes(name) && isForTextOnly(at, name, asked);
  }
  return false;
}

const isSentence = ({ type, key }: Node): boolean =>
  type === 'ObjectProperty' && isNode(key) && SENTENCES.includes(String(key['name']));

function nameOf({ type, id }: Node): string | undefined {
  const isNamed = type === 'VariableDeclarator' || type === 'FunctionDeclaration';
  return isNamed && isNode(id) && typeof id['name'] === 'string' ? id['name'] : undefined;
}

/** With another string there, a comparison does not compile, or is never true: which is a mutant of its own. */
function isCompared({ node, parentPath }: Path): boolean {
  const around = parentPath?.node;
  return node.type === 'StringLiteral' && around !== undefined && isComparison(around, node);
}

const isComparison = ({ type, operator, test }: Node, node: Node): boolean =>
  (type === 'BinaryExpression' && /^[!=]==$/.test(String(operator))) || (type === 'SwitchCase' && test === node);

/** Keeps mutants away from what is only read by people, and from those that would be there twice. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'text', {
    shouldIgnore(visited) {
      const path = visited as unknown as Path;
      const name = nameOf(path.node);
      if (name !== undefined && (SENTENCES.includes(name) || isForTextOnly(path, name))) return 'only texts use it';
      if (isCompared(path)) return 'compared: as if the comparison were false';
      return isText(path.node) || isSentence(path.node) ? 'a text for people' : undefined;
    },
  }),
];

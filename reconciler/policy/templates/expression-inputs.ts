import type { ASTNode } from '@marcbachmann/cel-js';
import { readMachineAmount } from './machine-amount.ts';
import { FUNCTIONS, METHODS, type Variable, VARIABLES } from './expression-language.ts';

/** What an expression asks of the machine: the class of a machine needs to know no more. */
export interface Inputs {
  readonly variables: ReadonlySet<Variable>;
  /** Names of labels, sorted. */
  readonly labels: readonly string[];
}

export const NO_INPUTS: Inputs = { variables: new Set(), labels: [] };

export interface ExpressionFault {
  readonly message: string;
  /** Where in the expression, in characters from 1. */
  readonly at: number;
}

/** What a parsed expression asks for, or the first thing in it that is not part of the language. */
export function inputsOfTree(tree: ASTNode): Inputs | ExpressionFault {
  const variables = new Set<Variable>();
  const labels = new Set<string>();
  const fault = look(tree);
  return fault ?? { variables, labels: [...labels].sort() };

  function look(node: ASTNode): ExpressionFault | undefined {
    switch (node.op) {
      case 'value':
        return undefined;
      case 'id':
        if (node.args === 'labels') return faultAt(node, 'labels are asked for by name: labels["example.com/tier"]');
        // The names of types are none, though CEL compares types by them.
        if (!isVariable(node.args)) return faultAt(node, `Unknown variable: ${node.args}`);
        variables.add(node.args);
        return undefined;
      case '.':
        return isLabels(node.args[0]) ? name(node.args[1]) : faultAt(node, `nothing here has a field ${node.args[1]}`);
      case '[]': {
        const [of, key] = node.args;
        if (!isLabels(of)) return faultAt(node, 'only labels are asked for by name');
        return nameIn(key);
      }
      case 'in': {
        const [key, of] = node.args;
        return isLabels(of) ? nameIn(key) : all([key, of]);
      }
      case 'call': {
        const [called, given] = node.args;
        if (!FUNCTIONS.has(called)) return faultAt(node, `there is no function ${called}`);
        return (called === 'quantity' ? quantity(given) : undefined) ?? all(given);
      }
      case 'rcall': {
        const [called, of, given] = node.args;
        return METHODS.has(called) ? all([of, ...given]) : faultAt(node, `there is no function ${called}`);
      }
      case '!_':
      case '-_':
        return look(node.args);
      case 'list':
      case '?:':
      case '||':
      case '&&':
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
        return all(node.args);
      case 'map':
      case '.?':
      case '[?]':
        return faultAt(node, `${node.op} is not part of the language`);
    }
  }

  function all(nodes: readonly ASTNode[]): ExpressionFault | undefined {
    for (const node of nodes) {
      const found = look(node);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function nameIn(key: ASTNode): ExpressionFault | undefined {
    const word = key.op === 'value' ? key.args : undefined;
    return typeof word === 'string' ? name(word) : faultAt(key, 'a label is asked for by its name in quotes');
  }

  function name(label: string): undefined {
    variables.add('labels');
    labels.add(label);
  }
}

const isVariable = (name: string): name is Variable => (VARIABLES as readonly string[]).includes(name);
const isLabels = (node: ASTNode): boolean => node.op === 'id' && node.args === 'labels';

function quantity([text]: readonly ASTNode[]): ExpressionFault | undefined {
  if (text?.op !== 'value' || typeof text.args !== 'string' || readMachineAmount(text.args) !== undefined)
    return undefined;
  return faultAt(text, `${JSON.stringify(text.args)} is not a valid quantity`);
}

const faultAt = (node: ASTNode, message: string): ExpressionFault => ({ message, at: node.start + 1 });

/** What several expressions ask for together. */
export function allInputs(each: Iterable<Inputs>): Inputs {
  const variables = new Set<Variable>();
  const labels = new Set<string>();
  for (const inputs of each) {
    for (const variable of inputs.variables) variables.add(variable);
    for (const label of inputs.labels) labels.add(label);
  }
  return { variables, labels: [...labels].sort() };
}

import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { MAX_FILE_BYTES } from '#shared/contract/kubelet-config/decode/source-text.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Io } from '../io.ts';
import { readAtMost } from '../read-at-most.ts';
import { configInAnswer } from './config-in-answer.ts';
import { type ConfigFile, type NotUsed, nodeOfFile } from './config-file-arguments.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

type Config = Readonly<Record<string, unknown>>;

/** What a kubelet runs, and where that was read. */
export interface NodeConfig {
  readonly node: string;
  readonly config: Config;
  /** `configs/worker-1.json`, or with a line: `-:12`. */
  readonly from: string;
  /** What `/configz` answered; absent for a config file, which says nothing of defaults and flags. */
  readonly isAnswer?: true;
}

export interface NodeConfigs {
  readonly configs: readonly NodeConfig[];
  readonly leftOut: readonly NotUsed[];
}

/** Of all nodes in one file: 5,000 answers of /configz have some twenty mebibytes. */
const MOST_BYTES = 256 * 1024 * 1024;
/** At a time: a fleet has more files than a process may open. */
const MOST_OPEN = 32;

/**
 * Reads what kubelets run. A file holds a KubeletConfiguration or what `/configz` answers, or the answers of many nodes, one a line:
 * `{"node": "worker-1", "kubeletconfig": {…}}`. What cannot be used is left out, with its line where there is one.
 */
export async function readConfigs(files: readonly ConfigFile[], input: Io['in']): Promise<NodeConfigs> {
  const read: NodeConfigs[] = Array.from({ length: files.length });
  const left = [...files.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, file] = next;
      read[index] = await readOne(file, input);
    }
  };
  await Promise.all(Array.from({ length: MOST_OPEN }, work));
  return once(
    read.flatMap(({ configs }) => configs),
    read.flatMap(({ leftOut }) => leftOut),
  );
}

/** Of a node that is given twice, the first counts. */
function once(configs: readonly NodeConfig[], leftOut: readonly NotUsed[]): NodeConfigs {
  const first = new Map<string, NodeConfig>();
  const twice: NotUsed[] = [];
  for (const each of configs) {
    const before = first.get(each.node);
    if (before === undefined) first.set(each.node, each);
    else twice.push({ what: each.from, why: `${each.node} was given before, by ${before.from}` });
  }
  return { configs: [...first.values()], leftOut: [...leftOut, ...twice] };
}

async function readOne(file: ConfigFile, input: Io['in']): Promise<NodeConfigs> {
  try {
    const bytes = file.path === '-' ? await piped(input) : await readAtMost(file.path, MOST_BYTES);
    if (bytes?.length === 0) return nothing(file.path, 'is empty');
    if (bytes === undefined) return nothing(file.path, `has more than ${MOST_BYTES / 1024 / 1024} MiB`);
    return configsIn(bytes, file);
  } catch (error) {
    return nothing(file.path, `cannot be read: ${reasonOf(error)}`);
  }
}

async function piped(input: Io['in']): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of input ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > MOST_BYTES) return undefined;
  }
  return Buffer.concat(parts);
}

const nothing = (what: string, why: string): NodeConfigs => ({ configs: [], leftOut: [{ what, why }] });

function configsIn(bytes: Buffer, file: ConfigFile): NodeConfigs {
  const text = bytes.toString('utf8');
  const whole = jsonIn(text);
  if (isMap(whole) && Object.hasOwn(whole, 'kubeletconfig')) return answerIn(whole, file, file.path);
  const end = text.indexOf('\n');
  const head = jsonIn(end === -1 ? '' : text.slice(0, end));
  if (isMap(head) && Object.hasOwn(head, 'kubeletconfig')) return answersIn(text, file);
  if (bytes.length > MAX_FILE_BYTES)
    return nothing(file.path, `is longer than a config can be (${MAX_FILE_BYTES / 1024} KiB)`);
  const { value, findings } = decodeKubeletConfig(bytes, file.path);
  if (value !== undefined) return named(value, file, undefined, file.path);
  const [{ message, line } = { message: '', line: undefined }] = findings;
  return nothing(at(file.path, line), `holds no KubeletConfiguration: ${message}`);
}

/** One answer a line, each with its node. */
function answersIn(text: string, file: ConfigFile): NodeConfigs {
  const each = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const place = at(file.path, index + 1);
    const answer = jsonIn(line);
    if (!isMap(answer)) return [nothing(place, 'is not JSON on one line, as the lines before are')];
    if (typeof answer['node'] !== 'string') return [nothing(place, 'does not say of which node it is ("node")')];
    return [answerIn(answer, file, place)];
  });
  return { configs: each.flatMap(({ configs }) => configs), leftOut: each.flatMap(({ leftOut }) => leftOut) };
}

function answerIn(answer: Config, file: ConfigFile, from: string): NodeConfigs {
  const { node } = answer;
  const config = configInAnswer(answer);
  if (typeof config === 'string') return nothing(from, config);
  const { configs, leftOut } = named(config, file, typeof node === 'string' ? node : undefined, from);
  return { configs: configs.map((each) => ({ ...each, isAnswer: true })), leftOut };
}

function named(config: Config, file: ConfigFile, says: string | undefined, from: string): NodeConfigs {
  const node = file.node ?? says ?? (file.path === '-' ? undefined : nodeOfFile(file.path));
  if (node === undefined) return nothing(from, 'does not say of which node it is: write NODE=-');
  return { configs: [{ node, config, from }], leftOut: [] };
}

const at = (path: string, line: number | undefined): string => (line === undefined ? path : `${path}:${line}`);

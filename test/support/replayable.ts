import { fc } from './property.ts';

export interface Replay {
  readonly seed: number;
  /** Of the story that failed, as it was printed; undefined to try as many as there are. */
  readonly path?: string | undefined;
}

/** What `PROPERTY_SEED` and `PROPERTY_PATH` say, and `usual` where nothing chooses a seed. */
export function replayFrom(env: NodeJS.ProcessEnv, usual: number): Replay {
  return { seed: Number(env['PROPERTY_SEED'] ?? usual), path: env['PROPERTY_PATH'] };
}

/**
 * Holds a property to so many runs. What fails is said at once in one line that can be found in a long log, and again with its
 * path when it has been made as small as it gets: whoever is killed meanwhile has left the seed behind.
 *
 * @param name what the property says, for the line
 * @param say  takes the line
 * @throws fast-check's own report
 */
export function holds<Values>(
  name: string,
  property: fc.IProperty<Values>,
  runs: number,
  { seed, path }: Replay,
  say: (line: string) => void = (line) => void process.stderr.write(line),
): void {
  let isSaid = false;
  const watched: fc.IProperty<Values> = new Proxy(property, {
    get(of, key) {
      if (key !== 'run') {
        const found: unknown = Reflect.get(of, key);
        return typeof found === 'function' ? found.bind(of) : found;
      }
      return (value: Values) => {
        const failure = of.run(value);
        if (!isSaid && failure !== null && !(failure instanceof Promise) && 'error' in failure) {
          isSaid = true;
          say(
            `PROPERTY FAILED: "${name}", PROPERTY_SEED=${seed}: ${firstLine(failure.error)}; looking for the smallest case\n`,
          );
        }
        return failure;
      };
    },
  });
  const found = fc.check(watched, { numRuns: runs, seed, ...(path === undefined ? {} : { path }) });
  if (!found.failed) return;
  say(
    `PROPERTY FAILED: "${name}", to replay: PROPERTY_SEED=${found.seed} PROPERTY_PATH=${found.counterexamplePath ?? ''}\n`,
  );
  throw new Error(fc.defaultReportMessage(found), { cause: found.errorInstance });
}

const firstLine = (error: unknown): string => String(error).split('\n', 1).join();

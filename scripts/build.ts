import { build, type Metafile, type Plugin } from 'esbuild';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtinsOnDemand } from './builtins-on-demand.ts';
import { licenceTexts } from './licence-texts.ts';

/** The name of each program in the image, and its entry point. */
export const PROGRAMS = {
  agent: 'agent/main.ts',
  reconciler: 'reconciler/main.ts',
  audit: 'cli/audit/main.ts',
} as const;

/** What a program starts threads with: files of their own, by name. */
const THREADS: Readonly<Record<keyof typeof PROGRAMS, Readonly<Record<string, string>>>> = {
  agent: {},
  audit: {},
  reconciler: { 'reconciler-read-commit': 'reconciler/reading/read-commit-worker.ts' },
};

/** Files that a program reads from beside its own. */
export const BESIDE: Readonly<Record<keyof typeof PROGRAMS, readonly string[]>> = {
  agent: ['agent/guard/guard.sh'],
  audit: [],
  reconciler: ['page.css', 'page-content.css', 'page.js', 'page.svg'].map(
    (file) => `reconciler/reporting/status-page/serve/${file}`,
  ),
};

/**
 * Libraries that stay files of their own, as published: their licence (LGPL) gives users of the image the right to put
 * another version in their place. By library, the files that a program loads or has to hand on.
 */
const APART: Readonly<Record<keyof typeof PROGRAMS, Readonly<Record<string, readonly string[]>>>> = {
  agent: {},
  audit: {},
  reconciler: { openpgp: ['package.json', 'LICENSE', 'dist/node/openpgp.mjs'] },
};

/** What a program carries and never calls, and what it gets instead. */
const INSTEAD: Readonly<Record<keyof typeof PROGRAMS, Readonly<Record<string, string>>>> = {
  agent: {
    'thread-stream': instead('thread-stream.ts'),
    '@pinojs/redact': instead('redact.cjs'),
    // pino asks whether it is in a worker, and checks one number: 0.3 MiB on every node.
    worker_threads: instead('worker-threads.ts'),
    assert: instead('assert.cjs'),
    'safe-stable-stringify': instead('stringify.ts'),
  },
  reconciler: {},
  audit: {},
};

/** The agent is in memory on every node. */
const PLUGINS: Readonly<Record<keyof typeof PROGRAMS, readonly Plugin[]>> = {
  agent: [builtinsOnDemand],
  reconciler: [],
  audit: [],
};

function instead(file: string): string {
  return join(import.meta.dirname, 'shims', file);
}

/** CommonJS dependencies of an ES module bundle need a `require`; the odd name cannot meet a minified one. */
export const BANNER =
  "import { createRequire as __kgCreateRequire } from 'node:module'; const require = __kgCreateRequire(import.meta.url);";

/**
 * Bundles one program into `outdir`, minified, with what it loads lazily in files of its own.
 *
 * @returns which inputs went into it, for the test of what may not
 */
export async function bundle(program: keyof typeof PROGRAMS, outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: { [program]: PROGRAMS[program], ...THREADS[program] },
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: `${program}-[name]-[hash]`,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    minify: true,
    legalComments: 'none',
    metafile: true,
    banner: { js: BANNER },
    logLevel: 'warning',
    external: Object.keys(APART[program]),
    alias: INSTEAD[program],
    plugins: [...PLUGINS[program]],
  });
  for (const file of BESIDE[program]) await copyFile(file, join(outdir, basename(file)));
  for (const [library, files] of Object.entries(APART[program])) await copyLibrary(library, files, outdir);
  return metafile;
}

async function copyLibrary(library: string, files: readonly string[], outdir: string): Promise<void> {
  const installed = join('node_modules', library);
  const target = join(outdir, 'node_modules', library);
  for (const file of files) {
    await mkdir(dirname(join(target, file)), { recursive: true });
    await copyFile(join(installed, file), join(target, file));
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { outdir: { type: 'string', default: 'dist' } } });
  await rm(values.outdir, { recursive: true, force: true });
  await mkdir(values.outdir, { recursive: true });
  await writeFile(`${values.outdir}/package.json`, '{"type":"module"}\n');
  const inputs: string[] = [];
  for (const program of Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]) {
    const { inputs: ofProgram, outputs } = await bundle(program, values.outdir);
    inputs.push(...Object.keys(ofProgram));
    const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0);
    console.log(`${program}: ${Math.round(bytes / 1024)} KiB in ${Object.keys(outputs).length} files`);
  }
  await writeFile(`${values.outdir}/licences.txt`, await licenceTexts(inputs));
}

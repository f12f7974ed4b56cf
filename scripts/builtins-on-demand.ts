import type { Plugin } from 'esbuild';

/**
 * Makes a bundle read from Node's own modules the names that it uses, and no others. An `import` statement that is left in the
 * bundle has Node read every export of the module for its namespace, also those that Node itself loads at the first use
 * only: `node:http` brings undici and HTTP/2 along, 2 to 3 MiB of resident memory.
 */
export const builtinsOnDemand: Plugin = {
  name: 'builtins-on-demand',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      // esbuild drops what is not imported: the comments promise that reading it would have had no effect.
      const names = Object.keys(process.getBuiltinModule(path) ?? {});
      const reads = names.map(
        (name, index) => `const e${index} = /* @__PURE__ */ of('${name}'); export { e${index} as ${name} };`,
      );
      const module = `const module = /* @__PURE__ */ process.getBuiltinModule('${path}'); const of = (name) => module[name];`;
      return { contents: [module, ...reads].join('\n') };
    });
  },
};

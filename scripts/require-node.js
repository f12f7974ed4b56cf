// Runs under any Node: says in one sentence what is missing instead of failing on TypeScript syntax.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `kubelet-gitops needs Node 22.19 or newer and found ${process.versions.node}. ` +
      'Run it through npm (npm test, npm run demo): npm ci installs a pinned Node 24 on Linux x64 and arm64. ' +
      'On other platforms install Node 24 yourself.',
  );
  process.exit(1);
}

// What the bundle and its libraries use and Node 20 does not have. Each is as in the newer one, or says that it is not there.
import workers from 'node:worker_threads';
import zlib from 'node:zlib';

Map.groupBy ??= (items, keyOf) => {
  const groups = new Map();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index);
    index += 1;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
};
Object.groupBy ??= (items, keyOf) =>
  Object.assign(Object.create(null), Object.fromEntries(Map.groupBy(items, (item, index) => keyOf(item, index))));
Promise.withResolvers ??= function withResolvers() {
  let resolve;
  let reject;
  const promise = new this((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};
// undici asks for these when it is loaded; nothing here uses them.
workers.markAsUncloneable ??= () => undefined;
zlib.createZstdDecompress ??= () => {
  throw new Error('Node 20 cannot read zstd');
};

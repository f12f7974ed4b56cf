import { createHttpRemote } from './http/http-remote.ts';
import type { Remote, RemoteOptions } from './remote.ts';
import { sshAddress } from './ssh/address.ts';
import { createSshRemote } from './ssh/ssh-remote.ts';

/** The repository at an address, reached by the way that the address names. @throws GitError `GIT_URL_UNUSABLE` */
export function createRemote(options: RemoteOptions): Remote {
  const address = sshAddress(options.url);
  return address === null ? createHttpRemote(options) : createSshRemote(address, options);
}

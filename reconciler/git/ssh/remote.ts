import { isGitError } from '../errors.ts';
import type { Patience } from '../http/patience.ts';
import { abortedError, startPatience } from '../http/patience.ts';
import type { Remote, RemoteOptions } from '../http/remote.ts';
import type { GitService, GitSession, Greeting } from '../http/session.ts';
import { DEFAULT_GIT_LIMITS } from '../limits.ts';
import { readAdvertisement } from '../wire/advertisement.ts';
import type { SshAddress } from './address.ts';
import { callSsh, type SshCall } from './call.ts';
import { findSshFiles, sshArguments, type SshFiles } from './command.ts';
import { asOverHttp } from './greeting.ts';

/** Nothing of a private key ever gets into a text of ours. */
const clean = (text: string): string => text;

/**
 * A repository on a server that is reached by the OpenSSH client. What is said is git's protocol as over HTTP, so that
 * all limits and checks are the same; a request is a call of ssh, with a connection of its own.
 */
export function createSshRemote(address: SshAddress, options: RemoteOptions): Remote {
  const { clock } = options;
  const limits = { ...DEFAULT_GIT_LIMITS, ...options.limits };
  const { directory, program = 'ssh' } = options.ssh ?? {};
  let greeting: Greeting | null = null;

  function open(files: SshFiles, signal: AbortSignal): GitSession {
    const deadline = clock.monotonic() + limits.totalMs;
    let known = greeting;

    async function call(service: GitService, asked: Pick<SshCall, 'version' | 'body' | 'maxBytes' | 'enough'>) {
      const patience: Patience = startPatience({ clock, limits, deadline, what: address.shown, signal });
      try {
        const args = sshArguments(address, files, service, Math.ceil(limits.connectMs / 1000));
        const shown = address.shown;
        return await callSsh({ ...asked, program, args, shown, maxGreetingBytes: limits.advertisementBytes }, patience);
      } finally {
        patience.end();
      }
    }

    return {
      url: address.shown,
      libraryUrl: 'http://over-ssh.invalid/config.git',
      limits,
      clean,
      greeting: () => known,
      async greet(service, version) {
        if (version === 2 && known?.advertisement.version === 2) return known;
        const answer = await call(service, { version, body: null, maxBytes: limits.advertisementBytes });
        const body = asOverHttp(service, answer.greeting);
        const heard = { base: new URL('ssh://nobody.invalid'), body, advertisement: readAdvertisement(body, clean) };
        if (service === 'git-upload-pack') known = heard;
        return heard;
      },
      async post(service, body, { version, maxBytes, enough }) {
        return (await call(service, { version, body: Buffer.from(body), maxBytes, enough })).body;
      },
    };
  }

  return {
    url: address.shown,
    async within(signal, work) {
      if (signal.aborted) throw abortedError(address.shown, signal);
      const session = open(await findSshFiles(directory), signal);
      try {
        const result = await work(session);
        const heard = session.greeting();
        greeting = heard?.advertisement.version === 2 ? heard : null;
        return result;
      } catch (error) {
        // The server may have changed: the next call asks it anew.
        if (!isGitError(error, 'GIT_BRANCH_MISSING')) greeting = null;
        throw error;
      }
    },
  };
}

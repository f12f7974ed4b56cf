import { DEFAULT_GIT_LIMITS } from '../git-limits.ts';
import { withRequestDeadlines } from '../request-deadlines.ts';
import { type Remote, remoteFromSessions, type RemoteOptions } from '../remote.ts';
import { readAdvertisement } from '../wire/advertisement.ts';
import type { GitService, GitSession, Greeting } from '../wire/git-session.ts';
import type { SshAddress } from './address.ts';
import { callSsh, type SshCall } from './ssh-call.ts';
import { findSshFiles, sshArguments, type SshFiles } from './ssh-command.ts';
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

  function open(files: SshFiles, signal: AbortSignal, greeting: Greeting | null): GitSession {
    const deadline = clock.monotonic() + limits.totalMs;
    let known = greeting;

    function call(service: GitService, asked: Pick<SshCall, 'version' | 'body' | 'maxBytes' | 'take'>) {
      const { shown } = address;
      const args = sshArguments(address, files, service, Math.ceil(limits.connectMs / 1000));
      return withRequestDeadlines({ clock, limits, deadline, what: shown, signal }, (patience) =>
        callSsh({ ...asked, program, args, shown, maxGreetingBytes: limits.advertisementBytes }, patience),
      );
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
      async post(service, body, { version, maxBytes, take }) {
        return (await call(service, { version, body: Buffer.from(body), maxBytes, take })).body;
      },
    };
  }

  return remoteFromSessions(address.shown, async (signal, greeting) =>
    open(await findSshFiles(directory), signal, greeting),
  );
}

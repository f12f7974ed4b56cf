import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The directory that the kubelet would mount into a pod. */
export interface ServiceAccountDirectory extends AsyncDisposable {
  readonly directory: string;
  write(file: 'token' | 'ca.crt', text: string): Promise<void>;
  remove(file: 'token' | 'ca.crt'): Promise<void>;
}

export async function serviceAccountDirectory(token: string, ca: string): Promise<ServiceAccountDirectory> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-service-account-'));
  const write = (file: string, text: string): Promise<void> => writeFile(join(directory, file), text);
  await Promise.all([write('token', token), write('ca.crt', ca)]);
  return {
    directory,
    write,
    remove: (file) => rm(join(directory, file)),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { Checkpoint } from '../checkpoint/payload-store.ts';
import type { CheckpointStore } from '../checkpoint/checkpoint-store.ts';
import { isTransientDiskError } from '../host/disk/transient-errors.ts';
import { fieldsOfConfig } from '../kubelet/config-fields.ts';
import type { Installable, Installer } from '../ports/installer.ts';
import type { Files, SeenBase } from '../decide/observation.ts';
import { isForGood } from '../staging/stage.ts';
import type { Target } from '../decide/state.ts';

/** What the node's disk says of a target. */
export interface SeenFiles {
  readonly files: Files;
  /** What a kubelet that runs the target reads from its files; nothing where that cannot be said. */
  readonly effective: Readonly<Record<string, unknown>>;
  /** The payload's fields; null for local, and where the checkpoint is lost. */
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly base: SeenBase;
}

const NO_BASE: SeenBase = { under: null, newer: null };

type Reading = Pick<CheckpointStore['payloads'], 'read'>;

/** Compares the managed files with what the target needs. Never throws. */
export async function observeFiles(target: Target, payloads: Reading, installer: Installer): Promise<SeenFiles> {
  const found = await installableOf(target, payloads);
  if ('lost' in found) {
    const files: Files = { files: 'lost', message: found.lost, ...(found.mayPass === true ? { mayPass: true } : {}) };
    return { files, effective: {}, payload: null, base: NO_BASE };
  }
  const payload = found.installable === null ? null : fieldsOf(found.installable.payload);
  try {
    const plan = await installer.plan(found.installable);
    const path = await installer.firstAmiss(plan);
    const ours = plan.isOverOurs === true ? { areOurs: true } : {};
    const differences = path === undefined ? [] : await installer.differences(plan);
    const read = differences.length === 0 ? {} : { differences };
    const files: Files = path === undefined ? { files: 'installed' } : { files: 'differ', path, ...read, ...ours };
    const base = plan.base === undefined ? NO_BASE : { under: plan.base.sha256, newer: plan.base.newer };
    return { files, effective: plan.effective, payload, base };
  } catch (error) {
    const files: Files = {
      files: 'blocked',
      message: reasonOf(error),
      forGood: isForGood(error),
      ...(codeOf(error) === 'INSTALL_LOCAL_LOST' ? { isLocalLost: true } : {}),
      ...(isTransientDiskError(error) ? { mayPass: true } : {}),
    };
    return { files, effective: {}, payload, base: NO_BASE };
  }
}

/** What an installer needs for a target, from the checkpoint. */
export async function installableOf(
  target: Target,
  payloads: Reading,
): Promise<{ readonly installable: Installable | null } | Extract<Checkpoint, { readonly lost: string }>> {
  if (target === null) return { installable: null };
  const checkpoint = await payloads.read(target);
  if ('lost' in checkpoint) return checkpoint;
  const { apply, keepFields, base } = target;
  return { installable: { payload: checkpoint.payload, apply, keepFields, ...(base === undefined ? {} : { base }) } };
}

const fieldsOf = (payload: string): SeenFiles['payload'] => fieldsOfConfig(Buffer.from(payload, 'utf8')) ?? null;

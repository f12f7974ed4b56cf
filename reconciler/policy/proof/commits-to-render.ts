import type { CommitOid } from '../commit-snapshot.ts';
import type { Desired } from '../desired.ts';
import type { Fleet } from '../fleet.ts';

/** The pools for which a recorded commit is to be rendered again, and which commit. */
export function commitsToRender(
  _desired: Desired,
  _fleet: Fleet,
): readonly { readonly pool: string; readonly commit: CommitOid }[] {
  return [];
}

import { provesRunning, type RunningQuestion } from '#shared/contract/kubelet-config/proves-running.ts';
import { withoutFlagged } from '../kubelet/flags.ts';

/**
 * Whether a kubelet that is restarted with other files would run what it runs now. Fields that a flag of its command line sets are the
 * flag's before and after, whatever its files say of them.
 *
 * @param args of the kubelet, as far as they are known
 * @param minor its version, likewise
 */
export function runsAlready(question: RunningQuestion, args: readonly string[], minor?: string): boolean {
  const wanted = withoutFlagged(question.wanted, args);
  const present = withoutFlagged(question.present, args);
  return provesRunning({ wanted, present, running: question.running }, minor);
}

import type { TestContext } from 'node:test';
import type { ConfigVerdict } from '#shared/contract/kubelet-config/verdict.ts';

/** What a real kubelet does with a file. */
export type RealVerdict = 'ok' | 'lenient' | 'reject' | 'late';

const REAL: readonly RealVerdict[] = ['ok', 'lenient', 'late', 'reject'];
const OURS: readonly ConfigVerdict[] = ['accept', 'warn', 'reject'];

export interface ConfusionMatrix {
  add(said: RealVerdict, got: ConfigVerdict | undefined, what: string): void;
  print(t: TestContext): void;
  /** `FALSE ACCEPT …` and `FALSE REFUSAL …` */
  readonly wrong: readonly string[];
}

/** Counts what was said by what is said here. Only what a kubelet takes strictly may be accepted, with or without a warning. */
export function confusionMatrix(): ConfusionMatrix {
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  return {
    wrong,
    add(said, got, what) {
      counts.set(`${said} ${got}`, (counts.get(`${said} ${got}`) ?? 0) + 1);
      if (said === 'ok' && got !== 'accept' && got !== 'warn') wrong.push(`FALSE REFUSAL ${what}`);
      if (said !== 'ok' && got !== 'reject') wrong.push(`FALSE ACCEPT ${what}`);
    },
    print(t) {
      t.diagnostic(`kubelet ${OURS.map((word) => word.padStart(8)).join('')}`);
      for (const said of REAL) {
        const row = OURS.map((got) => String(counts.get(`${said} ${got}`) ?? 0).padStart(8));
        t.diagnostic(`${said.padEnd(8)}${row.join('')}`);
      }
    },
  };
}

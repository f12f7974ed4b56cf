/** Waits for a condition that real sockets bring about; fails with its name after two minutes, which ends a hang and measures nothing. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

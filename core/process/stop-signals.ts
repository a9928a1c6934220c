/** Resolves at the first SIGTERM or SIGINT. A second signal of the same kind ends the process. */
export const stopRequested = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })

/** Resolves once this process is told to stop, by SIGTERM or SIGINT; a second signal ends it. */
export const stopRequested = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })

import type { GrainsSource, Log } from 'salt-ts'

/** Collect from one source, with what it logged. */
export async function collect(source: GrainsSource, opts: Readonly<Record<string, unknown>> = {}) {
  const lines: string[] = []
  const write = (message: string) => void lines.push(message)
  const log: Log = { trace: write, debug: write, info: write, warn: write, error: write }
  return { grains: await source.collect({ opts, grains: {}, log }), lines }
}

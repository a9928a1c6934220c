import type { GrainsSource } from 'salt-ts'
import { recordingLog } from '../../../../core/testing/recording-log.ts'

/** Collect from one source, with what it logged. */
export async function collect(source: GrainsSource, opts: Readonly<Record<string, unknown>> = {}) {
  const lines: string[] = []
  const log = recordingLog((_, message) => void lines.push(message))
  return { grains: await source.collect({ opts, grains: {}, log }), lines }
}

import type { GrainsSource } from 'salt-ts'
import { recordingLog } from '../../../../core/testing/recording-log.ts'
import { gather, type Source } from '../../../../plugins/grains/_facts/gather.ts'
import { Host } from '../../../../plugins/grains/_facts/host.ts'

type Opts = Readonly<Record<string, unknown>>

function logged() {
  const lines: string[] = []
  return { lines, log: recordingLog((_, message) => void lines.push(message)) }
}

/** Collect from a file of grains, with what it logged. */
export async function collect(source: GrainsSource, opts: Opts = {}) {
  const { log, lines } = logged()
  return { grains: await source.collect({ opts, grains: {}, log }), lines }
}

/** Collect from one source of the core grains on this host or on another, with what it logged. */
export async function collectFrom(source: Source, opts: Opts = {}, host = new Host()) {
  const { log, lines } = logged()
  return { grains: await gather(log, source(host, { opts, grains: {}, log })), lines }
}

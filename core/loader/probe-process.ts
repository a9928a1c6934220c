/** Entry of a process that loads users' files for another, which a file that never ends, or ends its process, must not harm. */
import { watchedBy } from './load-watch.ts'
import { openLoader } from './loader.ts'
import type { FromProbe, ProbeRequest } from './probe.ts'

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

async function answer({ kind, folders, blocked, ...settings }: ProbeRequest): Promise<void> {
  const loader = openLoader(kind, {
    ...settings,
    log: silent,
    ...watchedBy(send, blocked),
  })
  const broken = new Map<string, string>()
  for (const folder of folders)
    for (const [path, reason] of await loader.broken(folder)) broken.set(path, reason)
  send({ type: 'done', broken })
}

function send(message: FromProbe): void {
  if (process.connected) process.send?.(message)
}

process.once('message', (request: ProbeRequest) => void answer(request))
process.stderr.on('error', () => {}) // who started it has ended
process.once('disconnect', () => process.exit(0))
process.on('unhandledRejection', () => {}) // the file that did it may be fine otherwise

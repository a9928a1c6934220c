/** Entry of a process that tries to load users' files, since a file may block or end the process that loads it. */
import { connectParent } from '../../process/parent.ts'
import { watchedBy } from '../files/load-watch.ts'
import { openLoader } from '../loader.ts'
import type { FromProbe, ProbeRequest } from './probe.ts'

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

async function answer({ kind, folders, blocked, ...settings }: ProbeRequest): Promise<void> {
  const loader = openLoader(kind, {
    ...settings,
    log: silent,
    ...watchedBy((message) => void parent.send(message), blocked),
  })
  const broken = new Map<string, string>()
  for (const folder of folders)
    for (const [path, reason] of await loader.broken(folder)) broken.set(path, reason)
  await parent.send({ type: 'done', broken })
}

const parent = connectParent<ProbeRequest, FromProbe>({
  onMessage: (request) => void answer(request),
  onGone: () => process.exit(0),
})
process.on('unhandledRejection', () => {}) // a file that causes one may work otherwise

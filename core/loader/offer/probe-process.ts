/** Entry of a process that tries to load users' files, since a file may block or end the process that loads it. */
import { connectParent } from '../../process/parent.ts'
import { LeftBehind } from '../check/left-behind.ts'
import { type LoadingFile, watchedBy } from '../files/load-watch.ts'
import { openLoader } from '../loader.ts'
import type { FromProbe, ProbeRequest } from './probe.ts'

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

async function answer({ kind, places, checked, blocked, ...settings }: ProbeRequest): Promise<void> {
  const left = new LeftBehind()
  const heard = (message: LoadingFile) => {
    left.heard(message)
    void parent.send(message)
  }
  const loader = openLoader(kind, { ...settings, log: silent, ...watchedBy(heard, blocked) })
  const broken = new Map<string, string>()
  for (const place of places)
    for (const [path, reason] of await loader.broken(place)) broken.set(path, reason)
  const findings = [...(await loader.check(checked)), ...(await left.findings(checked))]
  await parent.send({ type: 'done', broken, findings })
}

const parent = connectParent<ProbeRequest, FromProbe>({
  onMessage: (request) => void answer(request),
  onGone: () => process.exit(0),
})
process.on('unhandledRejection', () => {}) // a file that causes one may work otherwise

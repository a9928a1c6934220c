/** Much at once: jobs, bytes, listeners that do not listen. */
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { masterEventSockets } from '../../../core/events/index.ts'
import { amid, type Scenario } from './scenario.ts'

const MEGABYTE = 2 ** 20
const LISTENERS = 10

export const bursts: readonly Scenario[] = [
  {
    name: 'burst',
    says: '200 jobs at once, while one minion is stopped for some seconds',
    rows: [8, 24],
    async run(fleet, random) {
      const minion = fleet.minion(random.pick(fleet.ids))
      fleet.signal(minion, 'main', 'SIGSTOP')
      const work = Array.from({ length: 200 }, () => ({ ms: random.between(0, 200) }))
      const published = Promise.all(work.map((each) => fleet.publish(each)))
      await delay(random.between(2000, 8000))
      fleet.signal(minion, 'main', 'SIGCONT')
      await published
    },
  },
  {
    name: 'large',
    says: 'returns of 0 bytes to 64 MB, while the workers are killed',
    rows: [1, 21],
    async run(fleet, random) {
      const sizes = [0, 1, 64 * 1024, MEGABYTE, 16 * MEGABYTE, 64 * MEGABYTE]
      const published = sizes.map((bytes) => fleet.publish({ bytes, tgt: [random.pick(fleet.ids)] }))
      const before = fleet.recorder.announced.size
      await Promise.all(published)
      await fleet.returned(before + random.between(1, 4))
      await fleet.replace(fleet.master, 'MWorker-', 'SIGKILL')
    },
  },
  {
    name: 'frozen-listeners',
    says: `${LISTENERS} listeners to the event bus that read nothing, and returns of 128 kB for them`,
    rows: [13],
    async run(fleet, random) {
      const { pubPath } = masterEventSockets(fleet.cluster.config)
      const sockets = Array.from({ length: LISTENERS }, () => connect(pubPath).pause())
      for (const socket of sockets) socket.on('error', () => {}) // it may be cut off
      await amid(fleet, random, () => {}, { jobs: 30, longest: 200, bytes: MEGABYTE / 8 })
      for (const socket of sockets) socket.destroy()
    },
  },
]

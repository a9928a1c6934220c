/** Asks `/livez` of a port again and again until it is told to stop, then says how long that took, in a process of its own. */
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'

export interface Answered {
  /** Milliseconds, in rising order. */
  readonly times: number[]
}

const PAUSE_MS = 20
const port = Number(process.argv[2])
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const times: number[] = []
let stopped = false

process.on('message', () => {
  stopped = true
})

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ agent, port, path: '/livez' }, (response) => response.resume().on('end', resolve)).on(
      'error',
      reject,
    )
  })
}

while (!stopped) {
  const asked = performance.now()
  await ask()
  times.push(performance.now() - asked)
  await setTimeout(PAUSE_MS)
}
times.sort((a, b) => a - b)
process.send?.({ times } satisfies Answered, () => process.exit())

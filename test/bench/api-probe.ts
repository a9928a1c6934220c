/**
 * Asks `/livez` of a port at a steady rate until it is told to stop, then says how long that took, in a process of its
 * own. It waits for no answer before it asks again: a server that stands still for a second is seen by each request of
 * that second. 'next' begins another list of times.
 */
import { Agent, get } from 'node:http'

/** Milliseconds from when each request was due, in rising order. */
export type Times = readonly number[]

const EVERY_MS = 20
const port = Number(process.argv[2])
const agent = new Agent({ keepAlive: true })
const lists: Promise<number>[][] = [[]]

function ask(due: number): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ agent, port, path: '/livez' }, (response) =>
      response.resume().on('end', () => resolve(performance.now() - due)),
    ).on('error', reject)
  })
}

let due = performance.now()
const asking = setInterval(() => {
  for (; due <= performance.now(); due += EVERY_MS) lists.at(-1)?.push(ask(due))
}, EVERY_MS)

process.on('message', async (word) => {
  if (word === 'next') {
    lists.push([])
    return
  }
  clearInterval(asking)
  const all = await Promise.all(lists.map((list) => Promise.all(list)))
  const sorted: Times[] = all.map((times) => times.sort((a, b) => a - b))
  process.send?.(sorted, () => process.exit())
})

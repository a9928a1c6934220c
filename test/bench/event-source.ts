/** A process that fires events onto the bus of a master, so many a second, as fast as the bus takes them at most. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { eventText } from './event-text.ts'
import { encodeEvent, packFrame } from './product.ts'

export interface Firing {
  /** The master's socket for events. */
  readonly pullPath: string
  readonly perSecond: number
  readonly seconds: number
}

const TICK_MS = 10

/** What a minion's return is as an event, with a number by which it is found again. */
const eventOf = (n: number) =>
  packFrame(
    encodeEvent(`salt/job/20300101000000000000/ret/sim-${n % 1000}`, {
      jid: '20300101000000000000',
      id: `sim-${n % 1000}`,
      cmd: '_return',
      fun: 'cmd.run',
      fun_args: ['ls'],
      retcode: 0,
      success: true,
      user: 'root',
      n,
      return: eventText(n),
    }),
  )

process.once('message', async ({ pullPath, perSecond, seconds }: Firing) => {
  const socket = connect(pullPath)
  await once(socket, 'connect')
  const began = performance.now()
  const all = perSecond * seconds
  for (let fired = 0; fired < all; ) {
    const due = Math.min(all, ((performance.now() - began) / 1000) * perSecond)
    const events: Buffer[] = []
    while (fired < due) events.push(eventOf(fired++))
    if (!socket.write(Buffer.concat(events))) await once(socket, 'drain')
    process.send?.({ fired })
    await new Promise((next) => setTimeout(next, TICK_MS))
  }
  socket.end(() => process.disconnect())
})

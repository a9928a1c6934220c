/** A master that may open few files, and more connections than these. */
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Dealer, Subscriber } from 'zeromq'
import { SimulatedMinion } from '../bench/simulated-minion.ts'
import { Cluster } from '../harness/daemons.ts'
import { keyPair } from '../harness/key-pairs.ts'
import { treeOf } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { eventually } from '../harness/until.ts'

const MINIONS = 6
const ROUNDS = 2

let cluster: Cluster
const minions: SimulatedMinion[] = []
const burst: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of burst.splice(0)) one.close()
  await Promise.all(minions.splice(0).map((minion) => minion.close()))
  await cluster?.close()
})

/** Something that takes a connection, and another one when it loses that. */
type Stranger = (port: number, to: 'publish' | 'request') => { close(): unknown }

const peer: Stranger = (port, to) => {
  const options = { linger: 0, reconnectInterval: 100, reconnectMaxInterval: 1_000 }
  const socket = to === 'publish' ? new Subscriber(options) : new Dealer(options)
  socket.connect(`tcp://127.0.0.1:${port}`)
  return socket
}

/**
 * The kernel drops the first packet of a connection while the queue of the port is full, and sends it again after 1, 3,
 * 7, 15 … seconds: a new connection gets in sooner.
 */
const CONNECT_MS = 300

/** Sends this text, and then nothing more. */
const talker =
  (text: string | Buffer): Stranger =>
  (port) => {
    let socket: Socket
    let isClosed = false
    const open = () => {
      if (isClosed) return
      socket = connect({ port, host: '127.0.0.1' })
      const late = setTimeout(() => socket.destroy(), CONNECT_MS)
      socket.once('connect', () => {
        clearTimeout(late)
        socket.write(text)
      })
      socket.on('error', () => undefined)
      socket.once('close', () => {
        clearTimeout(late)
        if (!isClosed) setTimeout(open, 100)
      })
      socket.resume()
    }
    open()
    return {
      close() {
        isClosed = true
        socket.destroy()
      },
    }
  }

/** Resolves when a minion in the process of this test has signed in and listens. */
async function addMinion(id: string): Promise<void> {
  const key = await keyPair('wire1')
  const address = { host: '127.0.0.1', port: cluster.ports.request, ownTopics: true }
  const minion = new SimulatedMinion(id, key, key.seal(Buffer.from('salt')), address)
  minions.push(minion)
  await minion.open()
}

const refusals = () =>
  cluster.master.output.split('\n').filter((line) => line.includes('are refused until some end'))

const children = () => treeOf(cluster.master.pid).map(({ pid }) => pid)

test.each<[string, number, number, Stranger]>([
  ['peers of ZeroMQ', 128, 200, peer],
  ['peers of ZeroMQ', 256, 400, peer],
  ['silent connections', 128, 200, talker('')],
  ['connections that speak HTTP', 128, 200, talker('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ['connections that stop in the middle of a greeting', 128, 200, talker(Buffer.from('ff0000', 'hex'))],
])(
  '%s, with %i files and %i of them: every job of minions that were connected before is answered whole',
  async (_, files, strangers, stranger) => {
    cluster = await Cluster.open({ within: ['bash', '-c', `ulimit -n ${files}; exec "$0" "$@"`] })
    const { ports } = cluster
    const client = await cluster.client()
    const ids = Array.from({ length: MINIONS }, (_, index) => `sim-${index}`)
    await Promise.all(ids.map(addMinion))
    const ping = async () => {
      const returns = await returnsOf(client, { tgt: ids, tgtType: 'list', fun: 'test.ping', timeout: 60 })
      expect(returns).toEqual(Object.fromEntries(ids.map((id) => [id, true])))
    }
    await ping()
    const before = children()

    const come = (count: number) => {
      for (let n = 0; n < count; n++)
        burst.push(stranger(ports.publish, 'publish'), stranger(ports.request, 'request'))
    }
    come(strangers)
    let moreAt = performance.now() + 5_000
    await eventually(() => {
      // Those whose greeting is wrong are let go again, so that on a slow machine more must come.
      if (performance.now() > moreAt && refusals().length < 2) {
        come(strangers / 4)
        moreAt += 5_000
      }
      expect(refusals()).toHaveLength(2)
    })
    for (let round = 0; round < ROUNDS; round++) {
      await ping()
      await Promise.all([ping(), ping(), ping(), ping()])
    }
    expect(children(), cluster.master.output).toEqual(before)
    expect(refusals()).toHaveLength(2)
    for (const port of [ports.publish, ports.request])
      expect(cluster.master.output).toContain(
        `New connections to port ${port} are refused until some end: this process may open ${files} files`,
      )

    for (const one of burst.splice(0)) one.close()
    await addMinion('late')
    const late = await returnsOf(client, { tgt: 'late', fun: 'test.ping', timeout: 60 })
    expect(late).toEqual({ late: true })
    await client.close()
  },
  300_000,
)

/** A master that may open few files, and more connections than these. */
import type { Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Dealer, Subscriber } from 'zeromq'
import { Fleet } from '../bench/fleet.ts'
import { Cluster } from '../harness/daemons.ts'
import { treeOf } from '../harness/processes.ts'
import { openConnection } from '../harness/raw-connection.ts'
import { eventually } from '../harness/until.ts'

const MINIONS = 6
const ROUNDS = 2

let cluster: Cluster
let fleet: Fleet | undefined
const burst: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of burst.splice(0)) one.close()
  fleet?.close()
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

/** It says this, and then nothing more. */
const talker =
  (words: string | Buffer): Stranger =>
  (port) => {
    let socket: Socket | undefined
    let isClosed = false
    const again = async () => {
      socket = await openConnection(port).catch(() => undefined)
      if (isClosed) return socket?.destroy()
      socket?.write(words)
      socket?.once('close', () => !isClosed && setTimeout(again, 100))
    }
    void again()
    return {
      close() {
        isClosed = true
        socket?.destroy()
      },
    }
  }

const refusals = () =>
  cluster.master.output.split('\n').filter((line) => line.includes('are refused until some end'))

const children = () => treeOf(cluster.master.pid).map(({ pid }) => pid)

test.each<[string, number, number, Stranger]>([
  ['peers of ZeroMQ', 128, 200, peer],
  ['peers of ZeroMQ', 256, 400, peer],
  ['connections that never say a word', 128, 200, talker('')],
  ['those who speak HTTP', 128, 200, talker('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ['those who stop in the middle of a greeting', 128, 200, talker(Buffer.from('ff0000', 'hex'))],
])(
  '%s, with %i files and %i of them: every job of those who were connected before is answered whole',
  async (_, files, strangers, stranger) => {
    cluster = await Cluster.open({ within: ['bash', '-c', `ulimit -n ${files}; exec "$0" "$@"`] })
    const { config, ports } = cluster
    const address = { host: '127.0.0.1', port: ports.request, ownTopics: true }
    fleet = await Fleet.open({ minions: MINIONS, processes: 1, address, pkiDir: config.pki_dir })
    const client = await cluster.client()
    const ids = Array.from({ length: MINIONS }, (_, index) => `sim-${index}`)
    const ping = async () => {
      const returns = await client.cmd({ tgt: ids, tgtType: 'list', fun: 'test.ping', timeout: 60 })
      expect(returns).toEqual(Object.fromEntries(ids.map((id) => [id, true])))
    }
    await ping()
    const before = children()

    for (let n = 0; n < strangers; n++)
      burst.push(stranger(ports.publish, 'publish'), stranger(ports.request, 'request'))
    await eventually(() => expect(refusals()).toHaveLength(2))
    for (let round = 0; round < ROUNDS; round++) {
      await ping()
      await Promise.all([ping(), ping(), ping(), ping()])
    }
    expect(children()).toEqual(before)
    expect(refusals()).toHaveLength(2)
    for (const port of [ports.publish, ports.request])
      expect(cluster.master.output).toContain(
        `New connections to port ${port} are refused until some end: this process may open ${files} files`,
      )

    for (const one of burst.splice(0)) one.close()
    await cluster.addMinion('late')
    const late = await client.cmd({ tgt: 'late', fun: 'test.ping', timeout: 60 })
    expect(late).toEqual({ late: true })
    await client.close()
  },
  300_000,
)

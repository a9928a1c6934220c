import { afterEach, expect, test, vi } from 'vitest'
import { Dealer, Router } from 'zeromq'
import { admitConnections } from '../../../core/transport/admission.ts'
import { HandshakeGate } from '../../../core/transport/zeromq/zap.ts'
import { SLOW } from '../../harness/slow.ts'
import { eventually, until } from '../../harness/until.ts'

const open: { close(): void }[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})

function client(endpoint: string): Dealer {
  const dealer = new Dealer({ linger: 0 })
  dealer.connect(endpoint)
  open.push(dealer)
  return dealer
}

/** A server that answers, and counts the files it has open by itself: connections, and those that are kept for it. */
async function serve(allowed: number, overMs = 100) {
  const router = new Router({ linger: 0, zapDomain: 'salt', handshakeInterval: 500 })
  open.push(router)
  await router.bind('tcp://127.0.0.1:*')
  const endpoint = router.lastEndpoint as string
  const [told, used] = [[] as string[], { files: 0 }]
  const tell = (sentence: string) => told.push(sentence)
  const admission = admitConnections(
    { port: 4506, onConnectionsRefused: tell, onConnectionsAccepted: tell },
    () => new HandshakeGate(),
    { allowed, used: () => used.files, overMs },
  )
  open.push(admission)
  void (async () => {
    for await (const frames of router) await router.send(frames).catch(() => undefined)
  })()
  return { endpoint, told, used }
}

async function ask(dealer: Dealer): Promise<string> {
  await dealer.send('hello')
  const [answer] = await dealer.receive()
  return String(answer)
}

/** What becomes of the connection of a client. */
async function fateAt(endpoint: string): Promise<string> {
  const dealer = new Dealer({ linger: 0 })
  open.push(dealer)
  const { events } = dealer // from now on
  dealer.connect(endpoint)
  for await (const { type } of events) if (type === 'handshake' || type === 'disconnect') return type
  return 'closed'
}

test(
  'at the limit of open files existing connections are served, and new ones when there is room again',
  SLOW,
  async () => {
    const { endpoint, told, used } = await serve(80)
    const first = client(endpoint)
    expect(await ask(first)).toBe('hello')
    used.files = 70
    for (let n = 0; n < 80; n++) client(endpoint)
    await eventually(() => expect(told).toHaveLength(1))
    expect(told[0]).toMatch(
      /^New connections to port 4506 are refused until some end: this process may open 80 files/,
    )
    expect(await ask(first)).toBe('hello')

    const late = client(endpoint)
    const answered = vi.fn()
    const answer = ask(late).then(answered)
    for (let n = 0; n < 5; n++) expect(await ask(first)).toBe('hello')
    expect(answered).not.toHaveBeenCalled()
    used.files = 10
    await answer
    expect(answered).toHaveBeenCalledWith('hello')
    await eventually(() => expect(told).toHaveLength(2))
    expect(told[1]).toBe('New connections to port 4506 are accepted again.')
  },
)

test('a short relief does not end the limit, and is not logged', SLOW, async () => {
  const { endpoint, told, used } = await serve(80, 60_000)
  for (let round = 0; round < 3; round++) {
    used.files = 75
    await until('a client to be refused', async () => (await fateAt(endpoint)) === 'disconnect')
    used.files = 10
    expect(await ask(client(endpoint))).toBe('hello')
  }
  expect(told).toHaveLength(1)
})

test('two servers of one process refuse and accept connections together', SLOW, async () => {
  const [first, second] = [await serve(80), await serve(80)]
  first.used.files = 75
  second.used.files = 75
  await eventually(() => expect([...first.told, ...second.told]).toHaveLength(2))
  const answer = ask(client(second.endpoint))
  first.used.files = 10
  second.used.files = 10
  expect(await answer).toBe('hello')
})

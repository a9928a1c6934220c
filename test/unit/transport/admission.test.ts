import { afterEach, expect, test, vi } from 'vitest'
import { Dealer, Router } from 'zeromq'
import { admitConnections } from '../../../core/transport/zeromq/admission.ts'
import { eventually } from '../../harness/until.ts'

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
async function serve(allowed: number) {
  const router = new Router({ linger: 0, zapDomain: 'salt', handshakeInterval: 500 })
  open.push(router)
  await router.bind('tcp://127.0.0.1:*')
  const endpoint = router.lastEndpoint as string
  const [told, used] = [[] as string[], { files: 0 }]
  const admission = admitConnections(
    { onFull: (sentence) => told.push(sentence) },
    { allowed, used: () => used.files },
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

test('at the limit of open files those that are connected are served, others when there is room again', async () => {
  const { endpoint, told, used } = await serve(80)
  const first = client(endpoint)
  expect(await ask(first)).toBe('hello')
  used.files = 70
  for (let n = 0; n < 80; n++) client(endpoint)
  await eventually(() => expect(told).toHaveLength(1))
  expect(told[0]).toMatch(/New connections are refused until some end: this process may open 80 files/)
  expect(await ask(first)).toBe('hello')

  const late = client(endpoint)
  const answered = vi.fn()
  const answer = ask(late).then(answered)
  for (let n = 0; n < 5; n++) expect(await ask(first)).toBe('hello')
  expect(answered).not.toHaveBeenCalled()
  used.files = 10
  await answer
  expect(answered).toHaveBeenCalledWith('hello')
}, 30_000)

import { expect, test, vi } from 'vitest'
import type { MasterEvents } from '../../../../core/client/local/master-link.ts'
import { startAndListen } from '../../../../core/client/local/start-and-listen.ts'
import { tags } from '../../../../core/events/index.ts'
import { Subscriptions } from '../../../../core/events/subscriptions.ts'

const [ONE, TWO] = ['20261122000000000001', '20261122000000000002']

function openBus() {
  const subscriptions = new Subscriptions()
  const bus: MasterEvents = {
    subscribe: (match, signal, options) => subscriptions.add(match, signal, options),
    fire: async () => {},
  }
  const fire = (tag: string) => subscriptions.deliver({ tag, event: () => ({ tag, data: {} }) }, 10)
  const listen = () => {
    const onGap = vi.fn()
    return { bus, family: tags.jobs, subscription: bus.subscribe([]), onGap }
  }
  return { subscriptions, fire, listen }
}

type Listening = ReturnType<ReturnType<typeof openBus>['listen']>
const heard = ({ subscription }: Listening) => {
  const all: string[] = []
  for (let next = subscription.shift(); next; next = subscription.shift()) all.push(next.event.tag)
  return all
}

test('events before the job id is known reach the caller, in order and once', async () => {
  const { fire, listen } = openBus()
  const one = listen()
  const starting = startAndListen(one, async () => {
    fire(tags.jobNew(ONE))
    fire(tags.jobReturn(TWO, 'a'))
    fire(tags.jobReturn(ONE, 'a'))
    return { jid: ONE }
  })
  await starting
  fire(tags.jobReturn(ONE, 'b'))
  fire(tags.jobReturn(TWO, 'b'))
  expect(heard(one)).toEqual([tags.jobNew(ONE), tags.jobReturn(ONE, 'a'), tags.jobReturn(ONE, 'b')])
})

test('concurrent starts get their own events, and none are kept when all have been delivered', async () => {
  const { subscriptions, fire, listen } = openBus()
  const [one, two] = [listen(), listen()]
  let answerOne = (_: { jid: string }) => {}
  const first = startAndListen(one, () => new Promise<{ jid: string }>((answer) => (answerOne = answer)))
  fire(tags.jobNew(ONE))
  await startAndListen(two, async () => {
    fire(tags.jobNew(TWO))
    return { jid: TWO }
  })
  fire(tags.jobReturn(ONE, 'a'))
  answerOne({ jid: ONE })
  await first
  expect(heard(one)).toEqual([tags.jobNew(ONE), tags.jobReturn(ONE, 'a')])
  expect(heard(two)).toEqual([tags.jobNew(TWO)])
  expect(subscriptions.size).toBe(2) // those of the two, none that keeps what is early
})

test('a failed start keeps no events', async () => {
  const { subscriptions, listen } = openBus()
  const one = listen()
  await expect(startAndListen(one, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  one.subscription.close()
  expect(subscriptions.size).toBe(0)
})

test('a start reports a lost connection', async () => {
  const { subscriptions, listen } = openBus()
  const one = listen()
  await startAndListen(one, async () => {
    subscriptions.interrupted()
    return { jid: ONE }
  })
  expect(one.onGap).toHaveBeenCalled()
})

/** A process full of simulated minions, told what to do by `fleet.ts`. */
import { inspect } from 'node:util'
import { codec, crypto } from './product.ts'
import { type Address, type PreparedRequest, SimulatedMinion } from './simulated-minion.ts'

export type ToProcess =
  | { readonly do: 'open'; readonly ids: readonly string[]; readonly pem: string; readonly address: Address }
  /** Encrypt a return of so many bytes of every minion to every job. */
  | { readonly do: 'prepare'; readonly jobs: readonly string[]; readonly bytes: number }
  /** Send them, so many at a time. */
  | { readonly do: 'send'; readonly atOnce: number }
  /** Look at the replies. */
  | { readonly do: 'check' }
  /** Count the minions that have come back to their master so many times. */
  | { readonly do: 'count'; readonly timesBack: number }

const minions: SimulatedMinion[] = []
interface Exchange {
  readonly minion: SimulatedMinion
  readonly request: PreparedRequest
  reply?: Uint8Array
}
let exchanges: Exchange[] = []

/** Signing in at once is limited by what the master's backlog takes. */
const SIGN_INS_AT_ONCE = 20

async function open({ ids, pem, address }: Extract<ToProcess, { do: 'open' }>): Promise<number> {
  const key = crypto.PrivateKey.parse(pem)
  const token = key.seal(Buffer.from('salt'))
  minions.push(...ids.map((id) => new SimulatedMinion(id, key, token, address)))
  await inLanes(minions, SIGN_INS_AT_ONCE, (minion) => minion.open())
  return minions.length
}

function prepare({ jobs, bytes }: Extract<ToProcess, { do: 'prepare' }>): number {
  exchanges = jobs.flatMap((jid) =>
    minions.map((minion) => ({ minion, request: minion.prepareReturn(jid, bytes) })),
  )
  return exchanges.length
}

async function send({ atOnce }: Extract<ToProcess, { do: 'send' }>): Promise<number> {
  await inLanes(exchanges, atOnce, async (exchange) => {
    exchange.reply = await exchange.minion.send(exchange.request)
  })
  return exchanges.length
}

function check(): number {
  const refused = exchanges.filter(
    ({ minion, request, reply }) => !reply || !minion.acknowledges(reply, request),
  )
  for (const { minion, reply } of refused.slice(0, 3))
    console.error(`${minion.id} was answered ${inspect(codec.decode(reply ?? new Uint8Array()))}`)
  return exchanges.length - refused.length
}

const answers = {
  open,
  prepare,
  send,
  check,
  count: ({ timesBack }: Extract<ToProcess, { do: 'count' }>) =>
    minions.filter((minion) => minion.timesBack >= timesBack).length,
}

async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const lane = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

process.on('message', async (message: ToProcess) => {
  const answer = answers[message.do] as (message: ToProcess) => number | Promise<number>
  process.send?.(await answer(message))
})
process.on('disconnect', () => process.exit())

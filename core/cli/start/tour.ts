/** The tour of `npm start`: a key arrives and is accepted; a job is published, runs and returns. */
import { setTimeout } from 'node:timers/promises'
import { jsonText } from '../../dialect/json.ts'
import { type Event, EventBus, masterEventSockets, type Subscription, tags } from '../../events/index.ts'
import type { Folder } from './folder.ts'
import type { Programs } from './programs.ts'

/** How long a step may take on a slow machine. */
const STEP_TIMEOUT_MS = 60_000
const LINE_WIDTH = 100

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Start the daemons and run commands. Resolves when both run and everything was shown. */
export async function tour({ master, minion }: Folder, programs: Programs): Promise<void> {
  say(`Starting salt-master on 127.0.0.1, ports ${master.publish_port} and ${master.ret_port}.`)
  programs.start('salt-master')
  const bus = await connect(masterEventSockets(master))
  try {
    say(`Starting salt-minion, id ${minion.id}. Everything both keep is in .salt/`)
    await minionSignedIn(bus, minion.id, programs)
    await programs.type('salt', '*', 'test.ping')
    const events = await jobEvents(bus, minion.id, () => programs.type('salt', '*', 'cmd.run', 'uname -a'))
    say('\nThe events of that job (salt-run event.listen shows them as they happen):')
    for (const event of events) say(`\n${asText(event)}`)
  } finally {
    await bus.close()
  }
}

async function connect(sockets: Parameters<typeof EventBus.connect>[0]): Promise<EventBus> {
  for (const end = Date.now() + STEP_TIMEOUT_MS; ; ) {
    try {
      return await EventBus.connect(sockets)
    } catch (error) {
      if (Date.now() > end) throw error
      await setTimeout(50)
    }
  }
}

/** Start the minion and accept its key when it arrives, unless an earlier start did so. */
async function minionSignedIn(bus: EventBus, id: string, programs: Programs): Promise<void> {
  const started = tags.minionStart(id)
  const news = bus.subscribe(
    (tag) => tag === tags.auth || tag === started,
    AbortSignal.timeout(STEP_TIMEOUT_MS),
  )
  programs.start('salt-minion')
  let arrived = false
  for await (const { tag, data } of news) {
    if (data.act === 'pend' && !arrived) {
      arrived = true
      say('Its key has arrived at the master.')
      await programs.type('salt-key', '-L')
      await programs.type('salt-key', '-y', '-a', id)
    }
    if (tag !== started) continue
    if (!arrived) say('Its key was accepted in an earlier start.')
    return
  }
  throw timedOut('The minion did not get ready', 'minion')
}

/** Return the events of the job that `work` publishes, in their order. */
async function jobEvents(bus: EventBus, id: string, work: () => Promise<void>): Promise<Event[]> {
  const subscription = bus.subscribe(tags.jobs, AbortSignal.timeout(STEP_TIMEOUT_MS))
  const [events] = await Promise.all([untilReturned(subscription, id), work()])
  return events
}

async function untilReturned(subscription: Subscription, id: string): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of subscription) {
    events.push(event)
    if (event.tag.endsWith(`/ret/${id}`)) return events
  }
  throw timedOut('The return of the job was not announced', 'master')
}

const timedOut = (what: string, log: string) =>
  new Error(`${what} within ${STEP_TIMEOUT_MS / 1000} seconds; see .salt/log/${log}.`)

/** Render an event: the tag, and the data as JSON with line breaks. */
function asText({ tag, data }: Event): string {
  const lines = ['{']
  for (const [index, [key, value]] of Object.entries(data).entries()) {
    const member = `${index ? ', ' : ''}${JSON.stringify(key)}: ${jsonText(value)}`
    const line = lines.at(-1) as string
    if (index === 0 || line.length + member.length < LINE_WIDTH) lines[lines.length - 1] = line + member
    else lines.push(` ${member.replace(/^, /, '')}`)
  }
  return `${tag}\n${`${lines.join(',\n')}}`.replace(/^/gm, '    ')}`
}

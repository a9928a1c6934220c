import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { isJid } from '../base/jid.ts'
import type { MasterEvents } from '../client/index.ts'
import { type Event, tags } from '../events/index.ts'

/** Where events go. */
export interface EventReceiver {
  /** Whether this master gets an event, by the job it is about. */
  wants(jid: string | undefined): boolean
  send(events: readonly Event[]): Promise<void>
}

/** Tags of events that concern only the master itself. */
const OWN = [
  tags.auth,
  tags.key,
  'salt/stats/',
  'salt/presence/',
  'salt/run/',
  'salt/wheel/',
  'salt/event/',
  'syndic_start',
  'salt/syndic/',
]
/** Returns are sent from the outbox, and reports name the minions of a job. */
const isKept = (tag: string): boolean =>
  OWN.some((own) => tag.startsWith(own)) ||
  /^salt\/job\/[^/]+\/(?:ret\/|new$|syndic\/)/.test(tag) ||
  /^\d{20}/.test(tag)

/** Maximum number of events in one message. */
const MAX_EVENTS = 500

/**
 * Forward the events of this host's master until closed. Unlike returns, events are not repeated: a master above that is not
 * connected misses them, like any other listener.
 */
export function forwardEvents(
  events: MasterEvents,
  receivers: readonly EventReceiver[],
  { gatherMs, log, signal }: { readonly gatherMs: number; readonly log: Log; readonly signal: AbortSignal },
): { readonly ended: Promise<void> } {
  const subscription = events.subscribe((tag) => !isKept(tag), signal, {
    onGap: (missed) => log.warn(`${missed ?? 'Some'} events were not forwarded to the masters above.`),
  })
  const forward = async () => {
    for await (const first of subscription) {
      await delay(gatherMs, undefined, { signal, ref: false }).catch(() => undefined)
      const batch = [first]
      for (let next = subscription.shift(); next; next = subscription.shift()) {
        batch.push(next.event)
        if (batch.length === MAX_EVENTS) break
      }
      await Promise.all(receivers.map((receiver) => sendTo(receiver, batch, log)))
    }
  }
  return { ended: forward().catch((error: unknown) => void (signal.aborted || log.error(messageOf(error)))) }
}

async function sendTo({ wants, send }: EventReceiver, batch: readonly Event[], log: Log): Promise<void> {
  const wanted = batch.filter(({ tag }) => wants(jidIn(tag)))
  if (wanted.length === 0) return
  await send(wanted).catch((error: unknown) =>
    log.debug(`${wanted.length} events were not forwarded: ${messageOf(error)}`),
  )
}

function jidIn(tag: string): string | undefined {
  const jid = tags.jidOf(tag)
  return isJid(jid) ? jid : undefined
}

/** The master's event bus: send events, and watch them. */
import { fn, p } from 'salt-ts'
import { listenParams, listen as listenTo } from './_event/listen.ts'

/**
 * Fire an event on the master's event bus. Returns true when the bus has it.
 *
 * @example salt-run event.send my/tag '{"what": "ever"}'
 */
export const send = fn(
  { tag: p.string({ minLength: 1 }), data: p.default(p.record(p.any()), {}), more: p.keywords(p.any()) },
  ({ tag, data, more }, { master }) => master.fire(tag, { ...data, ...more }),
)

/**
 * Print events as they happen, one `tag<TAB>JSON` line each, until `count` have been printed (-1: no limit).
 *
 * @example salt-run event.listen 'salt/job/*' count=5 pretty=True
 */
export const listen = fn(listenParams, listenTo)

/** The master's event bus: send an event, watch events go by. */
import { fn, p } from 'salt-ts'
import { listenParams, listen as listenTo } from './_event/listen.ts'

/**
 * Fire an event on the master's bus. Answers true when it was handed over.
 *
 * @example salt-run event.send my/tag '{"what": "ever"}'
 */
export const send = fn(
  { tag: p.string({ minLength: 1 }), data: p.default(p.record(p.any()), {}), more: p.keywords(p.any()) },
  ({ tag, data, more }, { master }) => master.fire(tag, { ...data, ...more }),
)

/**
 * Print events as they happen, `tag<TAB>JSON` a line, until `count` were seen (-1: for ever).
 *
 * @example salt-run event.listen 'salt/job/*' count=5 pretty=True
 */
export const listen = fn(listenParams, listenTo)

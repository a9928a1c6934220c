/** The master's event bus under the name that many scripts use. */
import { fn } from 'salt-ts'
import { listen, listenParams } from './_event/listen.ts'

/**
 * Print events as they happen, one `tag<TAB>JSON` line each, until `count` have been printed (-1: no limit).
 *
 * @example salt-run state.event 'salt/job/*' count=5 pretty=True
 */
export const event = fn(listenParams, listen)

/** The master's event bus under the name many scripts use. */
import { fn } from 'salt-ts'
import { listen, listenParams } from './_event/listen.ts'

/**
 * Print events as they happen, `tag<TAB>JSON` a line, until `count` were seen (-1: for ever).
 *
 * @example salt-run state.event 'salt/job/*' count=5 pretty=True
 */
export const event = fn(listenParams, listen)

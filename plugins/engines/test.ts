/** Writes all events to the log at level debug: to check that engines run, and as an example. */
import { engine, recordJson } from 'salt-ts'

export default engine({
  options: {},
  async start({ events, log }) {
    log.debug('test engine started')
    for await (const event of events.listen()) log.debug(recordJson(event))
  },
})

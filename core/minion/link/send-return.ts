import { deferred } from '../../base/deferred.ts'
import { preferredMaster } from '../../channel/request-channel.ts'
import { asText } from '../../wire/bytes.ts'
import type { MasterConnection } from './master-connection.ts'

const MAX_MASTER_ID = 255

type Connection = Pick<MasterConnection, 'request' | 'publishConnection' | 'cluster' | 'onChange'>

/**
 * Send a return to the master that published its job. While that master is not connected, the return also goes to the first other
 * master of the same cluster that is, or becomes, connected. Resolves with the first answer.
 */
export function sendReturn<C extends Connection>(
  ret: Readonly<Record<string, unknown>>,
  connection: C,
  connections: readonly C[],
): Promise<unknown> {
  const { cluster_id } = ret
  const to = preferredMaster(asText(ret.master_id, MAX_MASTER_ID))
  const other = () =>
    cluster_id === undefined || connection.publishConnection.isUp
      ? undefined
      : connections.find(
          (each) => each !== connection && each.publishConnection.isUp && each.cluster === cluster_id,
        )
  const first = other()
  if (first) return first.request(ret, to)
  const found = deferred<C>()
  const findOther = () => {
    const next = other()
    if (next) found.resolve(next)
  }
  const forget = connections.map((each) => each.onChange(findOther))
  const later = found.promise.then((next) => next.request(ret, to))
  return Promise.race([connection.request(ret, to), later]).finally(() => {
    for (const each of forget) each()
  })
}

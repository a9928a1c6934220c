/** Job processes are identified by other processes, by a token in their environment and by the job in their title. */
import { createHash } from 'node:crypto'
import { type ProcessIdentity, processesOf } from '../../process/process-identity.ts'

/** Number of hash characters that distinguish the minions of a host. */
const HASH_LENGTH = 12

const title = 'salt-minion JobProcess'

/** Return the prefix of the tokens of a minion's job processes. */
export const tokenPrefix = (cachedir: string): string =>
  `${createHash('sha256').update(cachedir).digest('hex').slice(0, HASH_LENGTH)}-`

/** Show in the title of this process which job it runs, or that it runs none. */
export function setProcessTitle(jid?: string): void {
  process.title = jid === undefined ? title : `${title} ${jid}`
}

/** Find the processes of a minion that run jobs, by jid. */
export function processesWithJobs(cachedir: string): ReadonlyMap<string, ProcessIdentity> {
  const found = processesOf(tokenPrefix(cachedir)).flatMap(({ identity, title: shown }) => {
    const [start, jid] = [shown.slice(0, title.length), shown.slice(title.length).trim()]
    return start === title && jid !== '' ? [[jid, identity] as const] : []
  })
  return new Map(found)
}

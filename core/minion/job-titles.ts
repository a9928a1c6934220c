/** How job processes are recognised from outside: by a token in their environment, and the job in their title. */
import { createHash } from 'node:crypto'
import { type ProcessIdentity, processesOf } from '../base/process-identity.ts'

/** Characters that tell the minions of a host apart. */
const TOLD_APART = 12

const title = 'salt-minion JobProcess'

/** What the tokens of a minion's job processes begin with. */
export const tokenPrefix = (cachedir: string): string =>
  `${createHash('sha256').update(cachedir).digest('hex').slice(0, TOLD_APART)}-`

/** Say which job this process runs, or that it runs none. */
export function showJob(jid?: string): void {
  process.title = jid === undefined ? title : `${title} ${jid}`
}

/** Processes of a minion that run jobs, by jid. */
export function processesWithJobs(cachedir: string): ReadonlyMap<string, ProcessIdentity> {
  const found = processesOf(tokenPrefix(cachedir)).flatMap(({ identity, title: shown }) => {
    const [start, jid] = [shown.slice(0, title.length), shown.slice(title.length).trim()]
    return start === title && jid !== '' ? [[jid, identity] as const] : []
  })
  return new Map(found)
}

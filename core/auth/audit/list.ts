import type { AuditQuery } from '../../author/master.ts'
import { isRecord } from '../../base/record.ts'
import { fnmatch } from '../../dialect/fnmatch.ts'
import { auditFiles, linesOf } from './history.ts'

type Members = Readonly<Record<string, unknown>>

/** Return the newest matching lines, oldest first. Older files are read only if newer ones have too few. */
export async function listAudit(path: string, { limit = 50, ...query }: AuditQuery): Promise<Members[]> {
  const { files } = await auditFiles(path)
  let found: Members[] = []
  for (const file of files.reverse()) {
    const here: Members[] = []
    for await (const { line } of linesOf(file)) {
      if (line && fits(line.members, query)) here.push(line.members)
      if (here.length > limit) here.shift()
    }
    found = [...here, ...found].slice(-limit)
    if (found.length >= limit) break
  }
  return found
}

const fits = ({ user, act, verdict, from, via }: Members, query: Omit<AuditQuery, 'limit'>): boolean =>
  matches([user], query.user) &&
  (query.act === undefined || act === query.act) &&
  (query.verdict === undefined || verdict === query.verdict) &&
  matches([from, isRecord(via) ? via.claimed_address : undefined], query.address)

const matches = (values: readonly unknown[], pattern: string | undefined): boolean =>
  pattern === undefined || values.some((value) => typeof value === 'string' && fnmatch(value, pattern))

/** Judges what became of the jobs of a cluster, once all faults are over. */
import { readFileSync } from 'node:fs'
import type { Cluster } from '../harness/daemons.ts'
import type { Tested } from './cluster-fleet.ts'
import { type Entry, entriesIn, ledgerOf, returnOf } from './ledger/entries.ts'

export interface ClusterVerdict {
  readonly pairs: number
  readonly returned: number
  /** Pairs without the right return. */
  readonly lost: number
  /** Pairs that began more than once. */
  readonly twice: number
  /** Pairs of which masters show different returns. */
  readonly different: number
  readonly broken: readonly string[]
}

const BYTES = 100
/** How long the returns of a job may take once all faults are over. */
const REST_MS = 60_000

export async function judgeCluster({ masters, minions, jobs, ofOneMaster }: Tested): Promise<ClusterVerdict> {
  const broken: string[] = []
  const begun = new Map<string, number>()
  const entries = minions.flatMap(({ directory }): Entry[] => entriesIn(readIfThere(ledgerOf(directory))))
  for (const { jid, id, what } of entries)
    if (what === 'begin') begun.set(`${jid} ${id}`, (begun.get(`${jid} ${id}`) ?? 0) + 1)
  const counts = { pairs: 0, returned: 0, lost: 0, twice: 0, different: 0 }
  for (const [jid, all] of jobs) {
    const ids = all.filter((id) => begun.has(`${jid} ${id}`) || !ofOneMaster.has(id))
    const isRight = (id: string, shown: Shown) => shown[id] === returnOf(jid, id, BYTES)
    const deadline = performance.now() + REST_MS
    let shown: Shown[]
    do shown = await Promise.all(masters.map((master) => lookUp(master, jid)))
    while (!shown.every((each) => ids.every((id) => isRight(id, each))) && performance.now() < deadline)
    for (const id of ids) {
      counts.pairs++
      const right = shown.filter((each) => isRight(id, each)).length
      if (right === masters.length) counts.returned++
      else if (right > 0) counts.different++
      else counts.lost++
      if (right < masters.length)
        broken.push(`${jid} on ${id}: ${shown.map((each) => String(each[id]).slice(0, 80)).join(' | ')}`)
    }
  }
  for (const [pair, times] of begun)
    if (times > 1) {
      counts.twice++
      broken.push(`${pair}: began ${times} times`)
    }
  return { ...counts, broken }
}

type Shown = Readonly<Record<string, unknown>>

async function lookUp(master: Cluster, jid: string): Promise<Shown> {
  const { stdout } = await master.command('salt-run', 'jobs.lookup_jid', jid, '--out', 'json')
  return JSON.parse(stdout || '{}')
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Run by the tests as a process of its own: `job-cache-child.ts <directory> <what> [argument]`. */
import { JobCache } from '../../../core/jobs/job-cache.ts'

const [directory = '', what = '', argument = ''] = process.argv.slice(2)
const cache = JobCache.open(directory)

if (what === 'reserve') {
  const jids = Array.from(
    { length: Number(argument) },
    (_, n) => `2024022912000000${String(n).padStart(4, '0')}`,
  )
  const taken = await Promise.all(jids.map((jid) => cache.reserve(jid)))
  process.stdout.write(String(taken.filter(Boolean).length))
}

if (what === 'returns') {
  for (let n = 0; ; n++) {
    await cache.saveReturn('20240229120000000001', `minion${n}`, { return: 'x'.repeat(1000) })
    process.stdout.write(`minion${n}\n`)
  }
}

await cache.close()

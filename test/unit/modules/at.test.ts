import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parseLine } from '../../../modules/_at/queue.ts'
import * as at from '../../../modules/at.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { commandContext } from './commands.ts'
import { type AnyFn, call } from './context.ts'

/** Stands for `at`: answers as that of Debian, and notes how it was called. */
const program = (folder: string) => `#!/bin/sh
echo "$@" >> ${folder}/called
case "$1" in
  -l) printf '3\\tThu Nov 26 15:00:00 2026 a root\\n12\\tFri Dec  4 03:05:00 2026 b jim\\n' ;;
  -c) case "$2" in
        3) printf '#!/bin/sh\\n### SALT: nightly\\ntrue\\n' ;;
        12) printf '#!/bin/sh\\ntrue\\n' ;;
        *) echo "Cannot find jobid $2" >&2; exit 1 ;;
      esac ;;
  -d) ;;
  never) echo 'syntax error. Last token seen: n' >&2; echo 'Garbled time' >&2; exit 1 ;;
  *) cat > ${folder}/script; echo 'warning: commands will be executed using /bin/sh' >&2
     echo 'job 12 at Fri Dec  4 03:05:00 2026' >&2 ;;
esac
`

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-at-')
  await writeFile(join(folder, 'at'), program(folder))
  await chmod(join(folder, 'at'), 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const ask = (fn: AnyFn, given: object = {}) => call(fn, given as Record<string, unknown>, commandContext())
const noted = (name: string) => readFile(join(folder, name), 'utf8')
const nightly = { job: 3, date: '2026-11-26', time: '15:00:00', queue: 'a', user: 'root', tag: 'nightly' }
const other = { job: 12, date: '2026-12-04', time: '03:05:00', queue: 'b', user: 'jim', tag: '' }

describe('at (recorded)', () => {
  test('is available where it is installed', async () => {
    expect(await at.virtual({} as never)).toBe(true)
  })

  test('lists queued jobs, with tags', SLOW, async () => {
    expect(await ask(at.atq)).toEqual({ jobs: [nightly, other] })
    expect(await ask(at.atq, { tag: 'nightly' })).toEqual({ jobs: [nightly] })
    expect(await ask(at.atq, { tag: '12' })).toEqual({ jobs: [other] })
    expect(parseLine('7\t2026-11-26 15:00 a root')).toMatchObject({
      job: 7,
      date: '2026-11-26',
      time: '15:00',
    })
    expect(parseLine('nothing')).toBeUndefined()
  })

  test('schedules a command, and returns its job', SLOW, async () => {
    expect(await ask(at.at, { args: ['3:05am', 'bin/my', 'script'], tag: 'x' })).toEqual({ jobs: [other] })
    expect(await noted('script')).toBe('### SALT: x\nbin/my script')
    expect(await ask(at.at, { args: ['never', 'true'] })).toEqual({ jobs: [], error: 'invalid timespec' })
    expect(await ask(at.at, { args: ['noon'] })).toEqual({ jobs: [] })
  })

  test('removes jobs, each by its number', async () => {
    expect(await ask(at.atrm, { args: ['3', '12', '99'] })).toEqual({
      jobs: { removed: ['3', '12'], tag: null },
    })
    expect(await noted('called')).toContain('-d 3 12\n')
    expect(await ask(at.atrm, { args: ['all', 'nightly'] })).toEqual({
      jobs: { removed: ['3'], tag: 'nightly' },
    })
    expect(await ask(at.atrm, { args: ['all'] })).toEqual({ jobs: { removed: ['3', '12'], tag: null } })
    expect(await ask(at.atrm)).toEqual({ jobs: { removed: [], tag: null } })
  })

  test('refuses an option as a time or number, and a tag of two lines', async () => {
    const refused = { jobs: [], error: 'invalid timespec or tag' }
    expect(await ask(at.at, { args: ['-d3', 'true'] })).toEqual(refused)
    expect(await ask(at.at, { args: ['now', 'true'], tag: 'a\nevil' })).toEqual(refused)
    expect(await ask(at.atc, { jobid: '-d3' })).toEqual({ error: "invalid job id '-d3'" })
    await expect(noted('called')).rejects.toThrow('ENOENT')
  })

  test('shows a script', async () => {
    expect(await ask(at.atc, { jobid: '12' })).toContain('#!/bin/sh')
    expect(await ask(at.atc, { jobid: '99' })).toEqual({ error: "invalid job id '99'" })
  })

  test('finds jobs by their properties', SLOW, async () => {
    expect(await ask(at.jobcheck, { hour: '3', minute: '5', day: '4', month: '12', year: '26' })).toEqual({
      jobs: [other],
    })
    expect(await ask(at.jobcheck, { runas: 'root', tag: 'nightly' })).toEqual({ jobs: [nightly] })
    expect(await ask(at.jobcheck, { runas: 'eve' })).toEqual({
      jobs: [],
      note: 'No match jobs or time format error',
    })
    expect(await ask(at.jobcheck)).toEqual({ jobs: [nightly, other] })
    expect(await ask(at.jobcheck, { kwargs: { nosuch: 'condition' } })).toEqual({ jobs: [nightly, other] })
  })
})

import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inTurn } from '../../../../modules/_lock/in-turn.ts'
import * as cron from '../../../../modules/cron.ts'
import * as file from '../../../../modules/file.ts'
import * as hosts from '../../../../modules/hosts.ts'
import * as mount from '../../../../modules/mount.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from '../context.ts'
import { stubProgram } from '../stub.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-turns-')
  path = join(folder, 'a')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const cachedir = () => join(folder, 'cache')
const context = (overrides: Partial<Context> = {}) =>
  fakeContext({
    opts: { cachedir: cachedir() },
    call: (() => Promise.resolve(path)) as unknown as Context['call'],
    ...overrides,
  })
const JOBS = [1, 2, 3, 4, 5, 6, 7, 8]
/** Run a function in several jobs at once, with the arguments for each. */
const atOnce = (fn: AnyFn, given: (job: number) => Record<string, unknown>) =>
  Promise.all(JOBS.map((job) => call(fn, given(job), context())))

describe('Of several concurrent jobs that change the same file, none undoes the change of another:', () => {
  const lines = () => JOBS.map((job) => `line ${job}\n`).join('')
  const changed = () => JOBS.map((job) => `done ${job}\n`).join('')

  test('file.replace', async () => {
    await writeFile(path, lines())
    await atOnce(file.replace, (job) => ({ path, pattern: `line ${job}`, repl: `done ${job}` }))
    expect(await readFile(path, 'utf8')).toBe(changed())
  })

  test('file.line, file.comment, file.blockreplace, file.sed and file.prepend', async () => {
    await writeFile(path, `${lines()}#s\n#e\n`)
    const edit = (fn: AnyFn, given: Record<string, unknown>) => call(fn, { path, ...given }, context())
    await Promise.all([
      edit(file.line, { mode: 'replace', match: 'line 1', content: 'done 1' }),
      edit(file.comment, { regex: '^line 2' }),
      edit(file.blockreplace, { marker_start: '#s', marker_end: '#e', content: 'inside\n' }),
      edit(file.sed, { before: 'line 3', after: 'done 3' }),
      edit(file.prepend, { lines: ['top'] }),
    ])
    expect(await readFile(path, 'utf8')).toBe(
      `top\n${lines().replace('line 1', 'done 1').replace('line 2', '#line 2').replace('line 3', 'done 3')}#s\ninside\n#e\n`,
    )
  })

  test('hosts.add_host', async () => {
    await atOnce(hosts.add_host, (job) => ({ ip: `10.0.0.${job}`, alias: `host${job}` }))
    expect(Object.keys((await call(hosts.list_hosts, {}, context())) as object)).toHaveLength(JOBS.length)
  })

  test('mount.set_fstab', async () => {
    await writeFile(path, '')
    await atOnce(mount.set_fstab, (job) => ({
      name: `/mnt/${job}`,
      device: `/dev/x${job}`,
      fstype: 'ext4',
      config: path,
    }))
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toHaveLength(JOBS.length)
  })

  test('cron.set_job', SLOW, async () => {
    const tab = join(folder, 'tab')
    await writeFile(tab, '')
    await stubProgram(
      folder,
      'crontab',
      `
      case "$*" in *-l) cat '${tab}' ;; *) cat > '${tab}.$$' && mv '${tab}.$$' '${tab}' ;; esac`,
    )
    const times = { minute: '*', hour: '*', daymonth: '*', month: '*', dayweek: '*' }
    await atOnce(cron.set_job, (job) => ({ user: 'root', ...times, cmd: `do ${job}` }))
    for (const job of JOBS) expect(await readFile(tab, 'utf8')).toContain(`do ${job}\n`)
  })
})

describe('A turn', () => {
  const lockOf = async () => {
    await inTurn(path, context(), async () => {})
    let held: string[] = []
    await inTurn(path, context(), async () => {
      held = await readdir(join(cachedir(), 'turns'))
    })
    return join(cachedir(), 'turns', held[0] as string)
  }

  test('ends with its work, also if the work fails', async () => {
    await expect(inTurn(path, context(), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await readdir(join(cachedir(), 'turns'))).toEqual([])
    expect(await inTurn(path, context(), async () => 7)).toBe(7)
  })

  test('of a job that was killed ends', async () => {
    await symlink(`${spawnSync('true').pid} boot/7`, await lockOf())
    expect(await inTurn(path, context(), async () => 7)).toBe(7)
  })

  test('is no longer awaited by a job that is killed', async () => {
    const abort = new AbortController()
    const begun = inTurn(path, context(), () => {
      const waiting = inTurn(path, context({ signal: abort.signal }), async () => 7)
      abort.abort(new Error('killed'))
      return waiting
    })
    await expect(begun).rejects.toThrow('killed')
  })

  test('is not needed if no lock can be made', async () => {
    await mkdir(cachedir())
    await writeFile(join(cachedir(), 'turns'), '')
    expect(await inTurn(path, context(), async () => 7)).toBe(7)
    expect(await inTurn(path, context({ opts: {} }), async () => 7)).toBe(7)
  })
})

/**
 * `npm run profile -- master|minion|salt [--seconds 10] [--minions 200] [--out profiles]`
 *
 * Writes a flame graph of each process that was at work: of a master to which simulated minions return, of a minion that runs
 * jobs one after the other, or of `salt MINION test.ping` from its start to its end.
 */
import { execFile } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { type MeasuredMaster, startOurs } from '../bench/masters.ts'
import { openFleet } from '../bench/measure.ts'
import { LocalClient, loadMasterConfig } from '../bench/product.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { signalAll, treeOf } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'
import { flameGraph, framesOf, type Profile } from './flame-graph.ts'
import { nameOf } from './frame-names.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    minions: { type: 'string', default: '200' },
    out: { type: 'string', default: 'profiles' },
  },
})

const WARM_UP_MS = 2000
const SIMULATING_PROCESSES = 2

/** `folder` is where processes write their profiles. */
type ProfileSubject = (master: MeasuredMaster, folder: string) => Promise<void>

const subjects: Readonly<Record<string, ProfileSubject>> = {
  async master(master, folder) {
    const fleet = await openFleet(master, Number(options.minions), SIMULATING_PROCESSES)
    const { pid } = master
    await recordWhile((client) => returnsOf(client, { tgt: '*', fun: 'test.ping' }), { master, folder, pid })
    fleet.close()
  },
  async minion(master, folder) {
    const job = { tgt: master.minion, fun: 'test.arg', arg: ['x'] }
    await recordWhile((client) => returnsOf(client, job), { master, folder, pid: master.minionPid })
  },
  async salt({ programs, minion }, folder) {
    const [program, ...words] = [...programs.salt, minion, 'test.ping']
    const env = { ...process.env, ...profiled(folder), PROFILE_WHOLE: 'yes' }
    await promisify(execFile)(program as string, words, { env })
  },
}

async function run([subject = '']: readonly string[]): Promise<void> {
  const profileSubject = Object.hasOwn(subjects, subject) ? subjects[subject] : undefined
  if (!profileSubject)
    throw new Error(`Name what to profile: npm run profile -- ${Object.keys(subjects).join('|')}`)
  const folder = await temporaryFolder('salt-profile-')
  Object.assign(process.env, profiled(folder))
  const master = await startOurs({ worker_threads: 2 })
  for (const name of Object.keys(profiled(folder))) delete process.env[name]
  try {
    await profileSubject(master, folder)
    await drawAll(subject, folder)
  } finally {
    await master.close()
    await removeFolder(folder)
  }
}

const profiled = (folder: string): Record<string, string> => ({
  NODE_OPTIONS: `--require ${join(import.meta.dirname, 'recorder.cjs')}`,
  PROFILE_FOLDER: folder,
})

/** Record a process and those below it while something is done again and again. */
async function recordWhile(
  work: (client: LocalClient) => Promise<unknown>,
  { master, folder, pid }: { master: MeasuredMaster; folder: string; pid: number },
): Promise<void> {
  const client = await LocalClient.connect(loadMasterConfig({ configDir: master.configDir }).config)
  let isOver = false
  const working = (async () => {
    while (!isOver) await work(client)
  })()
  await delay(WARM_UP_MS)
  const pids = treeOf(pid)
    .map((one) => one.pid)
    .filter((one) => readlinkSync(`/proc/${one}/exe`) === process.execPath)
  signalAll(pids, 'SIGUSR2')
  await delay(1000 * Number(options.seconds))
  signalAll(pids, 'SIGUSR2')
  isOver = true
  await working
  await client.close()
  const countWritten = async () => (await readdir(folder)).filter((file) => file.endsWith('.json')).length
  await until('the profiles', async () => (await countWritten()) === pids.length)
}

async function drawAll(subject: string, folder: string): Promise<void> {
  const out = resolve(options.out)
  await mkdir(out, { recursive: true })
  for (const file of await readdir(folder)) {
    const { title, profile } = JSON.parse(await readFile(join(folder, file), 'utf8')) as Recorded
    const frames = framesOf(profile, nameOf)
    const name = `${subject}-${title.replaceAll(/[^\w.-]+/g, '-')}`
    const path = join(out, `${name}-${file.replace('.json', '.svg')}`)
    await writeFile(
      path,
      flameGraph(frames, `${title}: ${(frames.total / 1000).toFixed(0)} ms of processor time`),
    )
    process.stdout.write(`${relative('.', path)}\n`)
  }
}

interface Recorded {
  readonly title: string
  readonly profile: Profile
}

await run(positionals)

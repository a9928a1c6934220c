/**
 * `npm start`: a master and a minion on free loopback ports, all state under `./.salt`, and a first look at what they
 * do. `--once` ends after that look.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../base/errors.ts'
import { loadMasterConfig, type MasterConfig } from '../config/index.ts'
import { type Event, EventBus, masterEventSockets, tags } from '../events/index.ts'

const bin = fileURLToPath(new URL('../../../bin/', import.meta.url))
const home = resolve('.salt')
const shown = '.salt'
const MINION = 'minion'
const PATIENCE_MS = 30_000
/** Unix sockets have short names; a deep folder keeps its sockets elsewhere. */
const LONGEST_SOCKET_DIR = 60

const say = (text = '') => process.stdout.write(`${text}\n`)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}

function socketDirectory(): string {
  const inside = join(home, 'run')
  if (inside.length <= LONGEST_SOCKET_DIR) return inside
  return join(tmpdir(), `salt-ts-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`)
}

/** Configuration files as a person would write them. */
async function writeConfiguration(): Promise<void> {
  await stopEarlier()
  await rm(home, { recursive: true, force: true })
  await mkdir(home, { recursive: true, mode: 0o700 })
  const [publish, request] = [await freePort(), await freePort()]
  const common = `root_dir: ${home}\nuser: ${process.env['USER'] ?? 'root'}\nsock_dir: ${socketDirectory()}\n`
  await writeFile(
    join(home, 'master'),
    `# A master for trying things out, written by npm start.\n${common}interface: 127.0.0.1\n` +
      `publish_port: ${publish}\nret_port: ${request}\npki_dir: /pki/master\ncachedir: /cache/master\n` +
      'log_file: /log/master\npidfile: /run/master.pid\n',
    { mode: 0o600 },
  )
  await writeFile(
    join(home, 'minion'),
    `# A minion for trying things out, written by npm start.\n${common}master: 127.0.0.1\nmaster_port: ${request}\n` +
      `id: ${MINION}\nacceptance_wait_time: 1\npki_dir: /pki/minion\ncachedir: /cache/minion\n` +
      'log_file: /log/minion\npidfile: /run/minion.pid\n',
    { mode: 0o600 },
  )
}

/** A master left over from an earlier start would hold the folder: refuse while it runs. */
async function stopEarlier(): Promise<void> {
  const pidfile = join(home, 'run', 'master.pid')
  if (!existsSync(pidfile)) return
  const pid = Number(await readFile(pidfile, 'utf8'))
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (command.includes('salt-master')) {
    throw new Error(
      `A master started by npm start still runs here (pid ${pid}). Stop it first with Ctrl-C in its terminal.`,
    )
  }
}

const daemons: ChildProcess[] = []

function startDaemon(name: string): ChildProcess {
  const child = spawn(process.execPath, [join(bin, name), '-c', home, '-l', 'error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true, // Ctrl-C is ours to pass on
  })
  daemons.push(child)
  return child
}

/** Run a command the way a person would, with the line that was typed. */
async function type(name: string, args: readonly string[], typed: string): Promise<void> {
  say(`\n$ ${typed}`)
  const child = spawn(process.execPath, [join(bin, name), '-c', home, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const code = await new Promise((done) => child.once('exit', done))
  if (code !== 0) throw new Error(`"${typed}" ended with exit code ${code}.`)
}

async function connect(config: MasterConfig): Promise<EventBus> {
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    try {
      return await EventBus.connect(masterEventSockets(config))
    } catch (error) {
      if (Date.now() > until || daemons.some((child) => child.exitCode !== null)) throw error
      await new Promise((done) => setTimeout(done, 50))
    }
  }
}

async function eventWith(
  events: AsyncIterable<Event>,
  wanted: (event: Event) => boolean,
  what: string,
): Promise<Event> {
  const timer = setTimeout(() => {
    process.stderr.write(`Gave up waiting for ${what}; see ${shown}/log.\n`)
    void stop().then(() => process.exit(1))
  }, PATIENCE_MS)
  try {
    for await (const event of events) if (wanted(event)) return event
    throw new Error(`The event bus ended before ${what}.`)
  } finally {
    clearTimeout(timer)
  }
}

async function show(): Promise<void> {
  await writeConfiguration()
  const { config } = loadMasterConfig({ configDir: home })
  say(
    `Starting salt-master on 127.0.0.1, ports ${config.publish_port} and ${config.ret_port}; all state is in ${shown}/`,
  )
  startDaemon('salt-master')
  const bus = await connect(config)
  const auth = bus.subscribe(tags.auth)
  const started = bus.subscribe(tags.minionStart(MINION))
  say('Starting salt-minion')
  startDaemon('salt-minion')

  await eventWith(auth, ({ data }) => data['act'] === 'pend', 'the key of the minion')
  auth.close()
  await type('salt-key', ['-L'], 'salt-key -L')
  await type('salt-key', ['-y', '-a', MINION], `salt-key -y -a ${MINION}`)
  await eventWith(started, () => true, 'the start of the minion')
  started.close()

  await type('salt', ['*', 'test.ping'], "salt '*' test.ping")
  const job = bus.subscribe((tag) => tag.startsWith(tags.jobs))
  const printed: Event[] = []
  const collecting = (async () => {
    for await (const event of job) printed.push(event)
  })()
  await type('salt', ['*', 'cmd.run', 'uname -a'], "salt '*' cmd.run 'uname -a'")
  job.close()
  await collecting
  say('\nThe events of that job (salt-run event.listen shows them live):')
  for (const { tag, data } of printed) say(`${tag}\t${JSON.stringify(data)}`)
  await bus.close()
}

async function stop(): Promise<void> {
  const ended = daemons.map(
    (child) =>
      new Promise<void>((done) => (child.exitCode === null ? child.once('exit', () => done()) : done())),
  )
  for (const child of daemons.toReversed()) child.kill('SIGTERM')
  const timer = setTimeout(() => daemons.forEach((child) => child.kill('SIGKILL')), 4500)
  await Promise.all(ended)
  clearTimeout(timer)
}

async function main(): Promise<number> {
  const once = process.argv.includes('--once')
  const interrupted = new Promise<void>((done) => {
    process.once('SIGINT', done)
    process.once('SIGTERM', done)
  })
  let leaving = false
  void interrupted.then(() => {
    leaving = true
  })
  try {
    await Promise.race([show(), interrupted])
    if (!once && !leaving) {
      say(`\nMaster and minion are running. From another terminal, in this folder:\n`)
      say(`  bin/salt -c ${shown} '*' test.ping\n`)
      say('Ctrl-C stops them.')
      await interrupted
    }
    await stop()
    return 0
  } catch (error) {
    if (!leaving) process.stderr.write(`npm start failed: ${messageOf(error)}\n`)
    await stop()
    return leaving ? 0 : 1
  }
}

process.exit(await main())

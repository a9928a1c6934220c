/** The working folder of `npm start`: configuration, ports, sockets, and the check that it is not in use. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { SaltError } from '../../base/errors.ts'
import {
  loadMasterConfig,
  loadMinionConfig,
  type MasterConfig,
  type MinionConfig,
} from '../../config/index.ts'
import { EventBus, type EventSockets, masterEventSockets, minionEventSockets } from '../../events/index.ts'

export interface Folder {
  readonly path: string
  readonly master: MasterConfig
  readonly minion: MinionConfig
  /** Remove the files that only a running master and minion need. */
  discard(): Promise<void>
}

/**
 * Paths of Unix sockets are limited in length. With a longer folder, sockets go to the temporary folder of the
 * system.
 */
const MAX_SOCKET_DIR_BYTES = 70

/** Folders of the configuration, and of the user's own modules and files. */
const DIRECTORIES = ['', 'master.d', 'minion.d', 'modules', 'files']

/**
 * Prepare the folder for a start. The files `master` and `minion` belong to the user and are kept, as are keys and
 * jobs; `*.d/start.conf` is written anew each time.
 * @throws SaltError ADDRESS_IN_USE if a master or minion is running in it, CONFIG_INVALID, PERMISSIONS
 */
export async function openFolder(path: string): Promise<Folder> {
  if (existsSync(join(path, 'master.d'))) await refuseWhileInUse(path)
  for (const directory of DIRECTORIES) {
    await mkdir(join(path, directory), { recursive: true, mode: 0o700 })
    await chmod(join(path, directory), 0o700)
  }
  const sockets = await socketDirectory(path)
  await writeConfiguration(path, sockets)
  return {
    path,
    master: loadMasterConfig({ configDir: path }).config,
    minion: loadMinionConfig({ configDir: path }).config,
    discard: () => rm(sockets, { recursive: true, force: true }),
  }
}

/** Refuse a folder whose event sockets answer. Pid files are not reliable: process ids are reused. */
async function refuseWhileInUse(path: string): Promise<void> {
  const { config: master } = loadMasterConfig({ configDir: path })
  const { config: minion } = loadMinionConfig({ configDir: path })
  await refuse('salt-master', masterEventSockets(master), master.pidfile)
  await refuse('salt-minion', minionEventSockets(minion, minion.id), minion.pidfile)
}

async function refuse(program: string, sockets: EventSockets, pidfile: string): Promise<void> {
  const bus = await EventBus.connect(sockets).catch(() => undefined)
  if (!bus) return
  await bus.close()
  const pid = (await readFile(pidfile, 'utf8').catch(() => '')).trim()
  throw new SaltError(
    'ADDRESS_IN_USE',
    `A ${program} of npm start is running in this folder already${pid && ` (process ${pid})`}. ` +
      `Stop it first: Ctrl-C in its terminal${pid && `, or kill ${pid}`}.`,
    { program, pid },
  )
}

async function socketDirectory(path: string): Promise<string> {
  const inside = join(path, 'run')
  if (Buffer.byteLength(inside) > MAX_SOCKET_DIR_BYTES) return mkdtemp(join(tmpdir(), 'salt-ts-'))
  await rm(inside, { recursive: true, force: true })
  await mkdir(inside, { mode: 0o700 })
  return inside
}

async function writeConfiguration(path: string, sockets: string): Promise<void> {
  const [publish, request] = await freePorts()
  const placed = (role: string) => ({
    pki_dir: join(path, 'pki', role),
    cachedir: join(path, 'cache', role),
    extension_modules: join(path, 'cache', role, 'extmods'),
    sock_dir: sockets,
    log_file: join(path, 'log', role),
    pidfile: join(sockets, `${role}.pid`),
  })
  const written = '# Written anew by every npm start; change ../'
  await write(join(path, 'master.d', 'start.conf'), `${written}master instead.`, {
    publish_port: publish,
    ret_port: request,
    ...placed('master'),
    api_logfile: join(path, 'log', 'api'),
  })
  await write(join(path, 'minion.d', 'start.conf'), `${written}minion instead.`, {
    master_port: request,
    ...placed('minion'),
  })
  await writeOnce(join(path, 'master'), '# The master of npm start. This file is yours: it is kept.', {
    interface: '127.0.0.1',
    module_dirs: [path],
    file_roots: { base: [join(path, 'files')] },
    log_level_logfile: 'info',
  })
  await writeOnce(join(path, 'minion'), '# The minion of npm start. This file is yours: it is kept.', {
    id: 'minion',
    master: '127.0.0.1',
    acceptance_wait_time: 1,
    module_dirs: [path],
    log_level_logfile: 'info',
  })
}

async function writeOnce(path: string, comment: string, options: object): Promise<void> {
  if (!existsSync(path)) await write(path, comment, options)
}

function write(path: string, comment: string, options: object): Promise<void> {
  return writeFile(path, `${comment}\n${stringify(options, { lineWidth: 0 })}`, { mode: 0o600 })
}

/** Return two different free ports of the loopback interface. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const
  for (const server of servers) {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  }
  const [first, second] = servers.map((server) => (server.address() as { port: number }).port)
  for (const server of servers) await new Promise((done) => server.close(done))
  return [first!, second!]
}

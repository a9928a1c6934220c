/** Grains of the minion process: identity, version, user, environment. */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from 'salt-ts'
import type { Source } from '../_facts/gather.ts'
import { Host } from '../_facts/host.ts'
import { timeZone } from '../_facts/timezone.ts'

const require = createRequire(import.meta.url)

/** The files of salt-ts itself. */
const own = new Host()

const source: Source = (host, { opts }) => ({
  'the minion': () => ({
    id: opts.id ?? '',
    master: opts.master ?? '',
    server_id: serverId(opts),
    append_domain: opts.append_domain,
    opts: opts.grain_opts === true ? opts : undefined,
  }),
  'the version': version,
  ZeroMQ: async () => ({ zmqversion: await zmqVersion(opts) }),
  Python: () => python(host),
  'the machine id': () => ({ machine_id: machineId(host) }),
  'the user': () => user(host),
  'the process': () => ({ pid: process.pid, cwd: process.cwd(), shell: process.env.SHELL ?? '/bin/sh' }),
  PATH: () => {
    const path = process.env.PATH?.trim() ?? ''
    return { path, systempath: path.split(':') }
  },
  'the locale': () => {
    const { name, abbreviation } = timeZone(host)
    return { locale_info: localeInfo(abbreviation), timezone: name }
  },
})
export default source

/** Return the id of the machine, from the first of its files that exists, even if that is empty. */
function machineId(host: Host): string | undefined {
  const id = host.text('/etc/machine-id') ?? host.text('/var/lib/dbus/machine-id')
  return id?.trim()
}

/**
 * Return the Python of the system, which formulas and targets ask for. Salt has the one that it runs on. `pythonversion` is left
 * out: by it a master knows minions of Python Salt.
 */
function python(host: Host): Record<string, unknown> {
  const pythonexecutable = '/usr/bin/python3'
  return host.exists(pythonexecutable) ? { pythonexecutable } : {}
}

/** Return a fixed number for the minion: the last 31 bits of the hash of its id. */
export function serverId({ id }: Context['opts']): number {
  const hash = createHash('sha256')
    .update(String(id ?? ''))
    .digest()
  return hash.readUInt32BE(hash.length - 4) % 2 ** 31
}

/**
 * Return the version of libzmq. Loading the library takes 40 ms; without a master it is not needed, so the version comes from
 * the package's build file.
 */
async function zmqVersion({ local, file_client }: Context['opts']): Promise<string | undefined> {
  if (local !== true && file_client !== 'local') return require('zeromq').version
  const folder = dirname(dirname(require.resolve('zeromq')))
  return /"zeromq",\s*"version>=":\s*"([\d.]+)/.exec((await own.text(join(folder, 'vcpkg.json'))) ?? '')?.[1]
}

/** The Salt release whose behaviour salt-ts implements; `saltversion` is the version of salt-ts. */
const SALT_RELEASE = '3006'

async function version(): Promise<Record<string, unknown>> {
  const found = await ownPackage(dirname(fileURLToPath(import.meta.url)))
  return {
    saltversion: found?.version,
    saltversioninfo: found?.version.split(/[.-]/).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
    saltcompat: SALT_RELEASE,
    saltpath: found?.folder,
    nodeversion: process.versions.node,
  }
}

// Sources and compiled files have different depths below package.json.
async function ownPackage(folder: string): Promise<{ version: string; folder: string } | undefined> {
  const text = await own.text(join(folder, 'package.json'))
  const { name, version } = text === undefined ? {} : JSON.parse(text)
  if (name === 'salt-ts') return { version, folder }
  return folder === dirname(folder) ? undefined : ownPackage(dirname(folder))
}

function user(host: Host): Record<string, unknown> {
  const { uid, gid, username } = accountOf()
  const groups =
    host
      .text('/etc/group')
      ?.split('\n')
      .map((line) => line.split(':')) ?? []
  return { uid, gid, username, groupname: groups.find(([, , id]) => id === String(gid))?.[0] ?? '' }
}

/** Return the user's account. In a container the user may have an id but no name. */
function accountOf(): { uid: number; gid: number; username: string } {
  try {
    return os.userInfo()
  } catch {
    const uid = process.getuid?.() ?? 0
    return { uid, gid: process.getgid?.() ?? 0, username: String(uid) }
  }
}

/** Return the locale. `C` and `POSIX` become `en_US` in UTF-8, as in Python. */
export function localeInfo(timezone: string): Record<string, string | null> {
  const name = process.env.LC_ALL || process.env.LC_CTYPE || process.env.LANG || 'C'
  const [, language = null, encoding = null] = /^([^.@]+)(?:\.([^@]+))?/.exec(name) ?? []
  const isPlain = /^(C|POSIX)$/.test(language ?? '') && /^(utf-?8)?$/i.test(encoding ?? '')
  return {
    defaultlanguage: isPlain ? 'en_US' : language,
    defaultencoding: isPlain || /^utf-?8$/i.test(encoding ?? '') ? 'UTF-8' : encoding,
    detectedencoding: 'utf-8',
    timezone,
  }
}

import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { exists, namesIn, textOf } from '../_facts/files.ts'

const BY_PROGRAM = new Map([
  ['supervisord', 'supervisord'],
  ['dumb-init', 'dumb-init'],
  ['tini', 'tini'],
  ['runit', 'runit'],
  ['my_init', 'runit'],
])

/** Return the `init` grain: the program that starts the services. */
export async function initSystem(): Promise<string> {
  if (await exists('/run/systemd/system')) return 'systemd'
  const words = (await textOf('/proc/1/cmdline'))?.split('\0').filter(Boolean) ?? []
  const program = words[0] ?? ''
  if (/(^|bin\/)init$/.test(program)) return initByContent(program.startsWith('/') ? program : '/sbin/init')
  const known = words.map((word) => BY_PROGRAM.get(basename(word))).find(Boolean)
  return known ?? 'unknown'
}

// An executable named `init` can only be identified by text inside it.
async function initByContent(path: string): Promise<string> {
  const content = await readFile(path, 'latin1').catch(() => '')
  return /upstart|sysvinit|systemd/i.exec(content)?.[0]?.toLowerCase() ?? 'unknown'
}

/**
 * Return the `systemd` grain: version and compiled-in features. The name and the text of systemd's shared library have them, so
 * systemctl need not run.
 */
export async function systemd(): Promise<{ version: string; features: string } | undefined> {
  const tools = await Promise.all(
    ['/usr/bin', '/bin'].flatMap((bin) => ['systemctl', 'localectl'].map((name) => exists(`${bin}/${name}`))),
  )
  if (!(tools[0] || tools[2]) || !(tools[1] || tools[3])) return undefined
  const library = await sharedLibrary()
  if (!library) return { version: 'UNDEFINED', features: '' }
  const text = await readFile(library.path, 'latin1').catch(() => '')
  return { version: library.version, features: /[+-]PAM [+-][ -~]+/.exec(text)?.[0] ?? '' }
}

async function sharedLibrary(): Promise<{ path: string; version: string } | undefined> {
  const multiarch = (await namesIn('/usr/lib')).filter((name) => name.endsWith('-linux-gnu'))
  const folders = [
    '/usr/lib/systemd',
    '/usr/lib64/systemd',
    '/lib/systemd',
    ...multiarch.map((name) => `/usr/lib/${name}/systemd`),
  ]
  for (const folder of folders) {
    for (const name of await namesIn(folder)) {
      const version = /^libsystemd-shared-(\d+)[^/]*\.so$/.exec(name)?.[1]
      if (version) return { path: `${folder}/${name}`, version }
    }
  }
  return undefined
}

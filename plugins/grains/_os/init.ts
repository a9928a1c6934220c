import { basename } from 'node:path'
import type { Host } from '../_facts/host.ts'

const BY_PROGRAM = new Map([
  ['supervisord', 'supervisord'],
  ['dumb-init', 'dumb-init'],
  ['tini', 'tini'],
  ['runit', 'runit'],
  ['my_init', 'runit'],
])

/** Return the `init` grain: the program that starts the services. */
export function initSystem(host: Host): string {
  if (host.exists('/run/systemd/system')) return 'systemd'
  // The init of System V writes its run level behind its name.
  const words =
    host
      .text('/proc/1/cmdline')
      ?.split(/[\0\s]+/)
      .filter(Boolean) ?? []
  const program = words[0] ?? ''
  if (/(^|bin\/)init$/.test(program))
    return initByContent(host, program.startsWith('/') ? program : '/sbin/init')
  const known = words.map((word) => BY_PROGRAM.get(basename(word))).find(Boolean)
  return known ?? 'unknown'
}

// An executable named `init` can only be identified by text inside it.
function initByContent(host: Host, path: string): string {
  const content = host.bytes(path).toString('latin1')
  return /upstart|sysvinit|systemd/i.exec(content)?.[0]?.toLowerCase() ?? 'unknown'
}

/**
 * Return the `systemd` grain: version and compiled-in features. The name and the text of systemd's shared library have them, so
 * systemctl need not run.
 */
export async function systemd(host: Host): Promise<{ version: string; features: string } | undefined> {
  const programs = await Promise.all(['systemctl', 'localectl'].map((name) => host.program(name)))
  if (programs.includes(undefined)) return undefined
  const library = sharedLibrary(host)
  if (!library) return { version: 'UNDEFINED', features: '' }
  return { version: library.version, features: featuresIn(host.bytes(library.path)) }
}

// As text, the library of 4 MB would take longer to search than all else.
function featuresIn(library: Buffer): string {
  for (const start of ['+PAM +', '+PAM -', '-PAM +', '-PAM -']) {
    const at = library.indexOf(start)
    if (at >= 0) return library.toString('latin1', at, library.indexOf(0, at))
  }
  return ''
}

function sharedLibrary(host: Host): { path: string; version: string } | undefined {
  const multiarch = host.names('/usr/lib').filter((name) => name.endsWith('-linux-gnu'))
  const folders = [
    '/usr/lib/systemd',
    '/usr/lib64/systemd',
    '/lib/systemd',
    ...multiarch.map((name) => `/usr/lib/${name}/systemd`),
  ]
  for (const folder of folders) {
    for (const name of host.names(folder)) {
      const version = /^libsystemd-shared-(\d+)[^/]*\.so$/.exec(name)?.[1]
      if (version) return { path: `${folder}/${name}`, version }
    }
  }
  return undefined
}

/** What `--version` and `-V` print. */
import { createRequire } from 'node:module'
import { arch, release, type } from 'node:os'

/** Replaced by the bundler; read from the manifest where there is none. */
declare const SALT_TS_VERSION: string | undefined

export function version(): string {
  if (typeof SALT_TS_VERSION === 'string') return SALT_TS_VERSION
  return (createRequire(import.meta.url)('salt-ts/package.json') as { version: string }).version
}

/** `salt 0.1.0 (salt-ts)` */
export function versionLine(program: string): string {
  return `${program} ${version()} (salt-ts)`
}

/** Versions of everything a report of a defect should name. */
export function versionsReport(): string {
  const section = (title: string, rows: [string, string][]): string =>
    [`${title}:`, ...rows.map(([name, value]) => `${name.padStart(18)}: ${value}`)].join('\n')
  return [
    section('Salt Version', [
      ['salt-ts', version()],
      ['Protocol', 'generation 3, 2 by option'],
    ]),
    section('Dependency Versions', dependencies()),
    section('System Versions', [
      ['node', process.versions.node],
      ['openssl', process.versions.openssl],
      ['system', `${type()} ${release()} ${arch()}`],
    ]),
  ].join('\n\n')
}

function dependencies(): [string, string][] {
  const require = createRequire(import.meta.url)
  const names = ['zeromq', '@msgpack/msgpack', 'lmdb', 'ajv', 'pino', 'yaml']
  const rows = names.map((name): [string, string] => [name, versionOf(require, name)])
  return [...rows, ['libzmq', (require('zeromq') as { version: string }).version]]
}

function versionOf(require: NodeJS.Require, name: string): string {
  try {
    return (require(`${name}/package.json`) as { version: string }).version
  } catch {
    return 'installed'
  }
}

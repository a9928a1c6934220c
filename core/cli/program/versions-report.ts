/** Renders `-V`: the versions that a bug report should name, in Salt's sections. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { machine, release, version as systemVersion, type } from 'node:os'
import { join } from 'node:path'
import { version } from './version.ts'

const COLUMN = 18

export function versionsReport(): string {
  const sections: [title: string, rows: [name: string, value: string][]][] = [
    ['Salt Version', [['Salt', version()]]],
    ['Node Version', [['Node', process.versions.node]]],
    ['Dependency Versions', dependencies()],
    [
      'System Versions',
      [
        ['dist', distribution()],
        ['locale', process.env.LC_ALL || process.env.LANG || 'C'],
        ['machine', machine()],
        ['release', release()],
        ['system', type()],
        ['version', systemVersion()],
      ],
    ],
  ]
  return sections
    .map(([title, rows]) =>
      [`${title}:`, ...rows.map(([name, value]) => `${name.padStart(COLUMN)}: ${value}`)].join('\n'),
    )
    .join('\n\n')
}

function dependencies(): [string, string][] {
  const require = createRequire(import.meta.url)
  const { dependencies } = require('salt-ts/package.json') as { dependencies: Record<string, string> }
  const libraries = Object.keys(dependencies).map((name): [string, string] => [
    name,
    installedVersion(require, name),
  ])
  const { openssl = '', v8 = '' } = process.versions
  const libzmq = (require('zeromq') as { version: string }).version
  return [...libraries, ['libzmq', libzmq], ['openssl', openssl], ['v8', v8]].sort(([a], [b]) =>
    (a as string) < (b as string) ? -1 : 1,
  ) as [string, string][]
}

/** Read the version from the manifest as a file: not every library exports its manifest. */
function installedVersion(require: NodeJS.Require, name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version: string })
        .version
    } catch {
      // perhaps in a folder further up
    }
  }
  return 'Not Installed'
}

/** Return the distribution as Salt does: `debian 12 bookworm`. */
function distribution(): string {
  try {
    const text = readFileSync('/etc/os-release', 'utf8')
    const value = (key: string) => new RegExp(`^${key}=["']?([^"'\\n]*)`, 'm').exec(text)?.[1] ?? ''
    return ['ID', 'VERSION_ID', 'VERSION_CODENAME'].map(value).join(' ').trim()
  } catch {
    return ''
  }
}

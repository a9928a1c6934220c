import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'

const require = createRequire(import.meta.url)
const manifest = require('salt-ts/package.json') as { version: string; dependencies: Record<string, string> }

export const saltVersion: string = manifest.version

export type Versions = Readonly<Record<string, Readonly<Record<string, string | null>>>>

/** Collect the versions that a bug report should name, in Salt's sections. */
export function readVersions(grains: Readonly<Record<string, unknown>>): Versions {
  const libraries = Object.keys(manifest.dependencies).sort()
  return {
    'Salt Version': { Salt: saltVersion },
    'Node Version': { Node: process.versions.node },
    'Dependency Versions': {
      ...Object.fromEntries(libraries.map((name) => [name, installedVersion(name)])),
      openssl: process.versions.openssl,
      v8: process.versions.v8,
    },
    'System Versions': {
      dist: ['os', 'osrelease', 'oscodename'].flatMap((key) => grains[key] ?? []).join(' '),
      locale: process.env.LC_ALL ?? process.env.LANG ?? '',
      machine: os.machine(),
      release: os.release(),
      system: os.type(),
      version: os.version(),
    },
  }
}

/** Return a library's version from its package.json in the nearest node_modules; null if it is not installed. */
function installedVersion(name: string): string | null {
  const folders = require.resolve.paths(name) ?? []
  for (const folder of folders) {
    try {
      const text = readFileSync(path.join(folder, name, 'package.json'), 'utf8')
      return (JSON.parse(text) as { version: string }).version
    } catch {}
  }
  return null
}

/** Format versions as text, with names aligned to the right. */
export function versionsText(versions: Versions): string {
  const width =
    Math.max(...Object.values(versions).flatMap((section) => Object.keys(section).map((n) => n.length))) + 1
  const lines = Object.entries(versions).map(([title, section]) => {
    const rows = Object.entries(section).map(
      ([name, version]) => `${name.padStart(width)}: ${version ?? 'Not Installed'}`,
    )
    return [`${title}:`, ...rows].join('\n')
  })
  return lines.join('\n\n')
}

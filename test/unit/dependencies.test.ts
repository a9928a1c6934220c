import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import lock from '../../npm-shrinkwrap.json' with { type: 'json' }
import manifest from '../../package.json' with { type: 'json' }

interface Semver {
  minVersion(range: string): object | null
  satisfies(version: string, range: string): boolean
}
const { minVersion, satisfies }: Semver = createRequire(import.meta.url)('semver')

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly resolved?: string
  readonly optional?: true
  readonly engines?: { readonly node?: string }
}

const { '': _, ...packages } = lock.packages as unknown as Record<string, Locked>
const oldest = String(minVersion(manifest.engines.node))

test('every dependency runs on the oldest supported Node', () => {
  const tooNew = Object.entries(packages)
    .filter(([, { engines }]) => engines?.node !== undefined && !satisfies(oldest, engines.node))
    .map(([path, { version, engines }]) => `${path} ${version} wants Node ${engines?.node}, not ${oldest}`)
  expect(tooNew).toEqual([])
})

test('versions and checksums of dependencies are fixed', () => {
  const open = Object.entries(packages)
    .filter(([, { integrity, resolved, optional }]) => resolved !== undefined || !(integrity || optional))
    .map(([path]) => path)
  expect(open, 'without integrity, or with the address of a registry').toEqual([])
})

test('they are fixed in the package, too', () => {
  expect(manifest.files).toContain('npm-shrinkwrap.json')
  expect(lock.version).toBe(manifest.version)
})

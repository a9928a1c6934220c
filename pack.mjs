/**
 * Changes package.json while npm packs it: `prepack` removes the paths of sources, which are not in the package, and
 * `postpack` puts the file back. npm runs both.
 */
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const manifest = path.join(import.meta.dirname, 'package.json')
const kept = path.join(import.meta.dirname, 'package.json.clone')

/** The package.json that users get. */
export const packedManifest = (manifest) => ({
  ...manifest,
  exports: withoutSources(manifest.exports),
  imports: withoutSources(manifest.imports),
})

/** Exports or imports without the condition `source`, which only the sources of a clone answer. */
function withoutSources(entries) {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => {
      if (typeof entry === 'string') return [name, entry]
      const { source: _, ...rest } = entry
      return [name, rest]
    }),
  )
}

async function prepack() {
  if (existsSync(kept)) await rename(kept, manifest) // a pack that was interrupted
  await copyFile(manifest, kept)
  const packed = packedManifest(JSON.parse(await readFile(manifest, 'utf8')))
  await writeFile(manifest, `${JSON.stringify(packed, undefined, 2)}\n`)
}

async function postpack() {
  if (existsSync(kept)) await rename(kept, manifest)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await (process.argv[2] === 'prepack' ? prepack() : postpack())

import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The compiled file `name` beside the module `here` (its `import.meta.url`), to start a process with: that starts in
 * plain JavaScript, also where `here` runs from its source, as in tests. A process of another room is `../room/name`.
 */
export function processEntry(here: string, name: string): string {
  const room = basename(dirname(fileURLToPath(here)))
  const folder = here.endsWith('.ts') ? `../../dist/core/${room}` : '.'
  return fileURLToPath(new URL(`${folder}/${name}.js`, here))
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../base/files/names-in.ts'
import { fnmatch } from '../dialect/fnmatch.ts'

const magic = /[*?[]/

/** Return the existing paths that match an absolute shell pattern, sorted. As in a shell, `*` does not match a leading dot. */
export function expandGlob(pattern: string): string[] {
  const paths = pattern.split('/').filter(Boolean).reduce(expandSegment, ['/'])
  return paths.filter((path) => existsSync(path)).sort()
}

function expandSegment(directories: string[], segment: string): string[] {
  if (!magic.test(segment)) return directories.map((directory) => join(directory, segment))
  return directories.flatMap((directory) =>
    namesIn(directory)
      .filter((name) => fnmatch(name, segment) && (!name.startsWith('.') || segment.startsWith('.')))
      .map((name) => join(directory, name)),
  )
}

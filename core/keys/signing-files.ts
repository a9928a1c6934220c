import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { fnmatch } from '../dialect/fnmatch.ts'
import { pythonRegExp } from '../dialect/python-regexp.ts'

/** Read the files that list minions whose keys are accepted or rejected automatically. */
export interface SigningFiles {
  /** Whether a line of the file is the id, or a shell pattern or regular expression that matches it. */
  lists(path: string | undefined, id: string): Promise<boolean>
  /** Whether the value of a grain is a line of the file named after the grain. */
  listsGrain(folder: string | undefined, grains: Readonly<Record<string, unknown>>): Promise<boolean>
  /** Whether only the owner may write to the path. */
  isTrusted(path: string): Promise<boolean>
}

const OTHERS_WRITE = 0o022

export function createSigningFiles(warn: (message: string) => void): SigningFiles {
  const warned = new Set<string>()
  const warnOnce = (message: string) => {
    if (!warned.has(message)) warn(message)
    warned.add(message)
  }

  async function isTrusted(path: string): Promise<boolean> {
    const found = await stat(path).catch(() => undefined)
    if (!found) return false
    if ((found.mode & OTHERS_WRITE) === 0) return true
    warnOnce(`${path} is ignored because others may write to it. Run: chmod go-w ${path}`)
    return false
  }

  async function linesOf(path: string): Promise<string[]> {
    if (!(await isTrusted(path))) return []
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      warnOnce(`${path} cannot be read: ${messageOf(error)}`)
      return ''
    })
    const lines = text.split('\n').map((line) => line.trim())
    return lines.filter((line) => line !== '' && !line.startsWith('#'))
  }

  function matches(line: string, id: string): boolean {
    if (line === id || fnmatch(id, line)) return true
    try {
      return pythonRegExp(`(?:${line})\\Z`).matches(id)
    } catch {
      return false // a shell pattern such as *.example.com need not be a regular expression
    }
  }

  return {
    isTrusted,
    async lists(path, id) {
      if (!path) return false
      return (await linesOf(path)).some((line) => matches(line, id))
    },
    async listsGrain(folder, grains) {
      if (!folder) return false
      const names = await readdir(folder).catch(() => [])
      for (const name of names.filter((each) => Object.hasOwn(grains, each))) {
        const text = textOf(grains[name])
        if (text !== undefined && (await linesOf(join(folder, name))).includes(text)) return true
      }
      return false
    },
  }
}

/** Format a grain as Python writes it in the file. */
function textOf(grain: unknown): string | undefined {
  if (typeof grain === 'string') return grain.trim()
  if (typeof grain === 'boolean') return grain ? 'True' : 'False'
  return typeof grain === 'number' || typeof grain === 'bigint' ? String(grain) : undefined
}

/** The names of frames: a function, and the line of its source, found by the source maps of bundles. */
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CallFrame } from './flame-graph.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Begins the names of bundles (bin/start.cjs). */
const BUNDLED = /^salt-ts\//
const maps = new Map<string, SourceMap | undefined>()

/** Returns undefined of what is no work: waiting, and recording the profile. */
export function nameOf({ functionName, url, lineNumber, columnNumber }: CallFrame): string | undefined {
  if (functionName === '(idle)' || url.endsWith('recorder.cjs')) return undefined
  const name = functionName || '(anonymous)'
  if (!url) return name
  if (url.startsWith('node:')) return `${name} ${url}`
  const file = url.startsWith('file:') ? fileURLToPath(url) : url.replace(BUNDLED, root)
  const found = mapOf(file)?.findEntry(lineNumber, columnNumber)
  if (found && 'originalSource' in found)
    return `${name} ${relative(root, resolve(dirname(file), found.originalSource))}:${found.originalLine + 1}`
  return `${name} ${relative(root, file)}:${lineNumber + 1}`
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`))
  return maps.get(file)
}

const readMap = (file: string): SourceMap | undefined =>
  existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined

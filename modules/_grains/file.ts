import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import type { Document, Tags } from 'yaml'
import { replaceFile } from '#internal'
import { takeLock } from '../_lock/lock-file.ts'

export type Grains = Record<string, unknown>
/** Top-level grains to write; `undefined` removes one. */
export type Changes = Readonly<Record<string, unknown>>

// YAML as Salt reads it, except that dates stay text.
const yaml = {
  version: '1.1' as const,
  customTags: (tags: Tags): Tags =>
    tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
}

const LOCK_WAIT_MS = 10_000

/** Return the path of the persistent grains: `grains` beside the minion's configuration file. */
export function grainsPath({ opts }: Pick<Context, 'opts'>): string {
  const { config_dir, conf_file } = opts
  if (typeof config_dir === 'string') return join(config_dir, 'grains')
  if (typeof conf_file === 'string') return join(dirname(conf_file), 'grains')
  throw new CommandExecutionError('The minion has no configuration folder, so grains cannot be stored')
}

/** Change the grains file, as {@link changeYamlFile} does. */
export const changeGrainsFile = (
  path: string,
  decide: (grains: Grains) => Changes | undefined,
): Promise<void> => changeYamlFile(path, 'grains file', decide)

/**
 * Change a map in a YAML file under a lock. `decide` receives the map and returns the changes, or undefined for none.
 * Keeps comments and order, and replaces the file atomically. Errors call the file `what`.
 */
export async function changeYamlFile(
  path: string,
  what: string,
  decide: (map: Record<string, unknown>) => Changes | undefined,
): Promise<void> {
  const target = await realpath(path).catch(() => path)
  await withLock(`${target}.lock`, what, async () => {
    const document = await readDocument(target, what)
    const changes = decide((document.toJS() as Grains | null) ?? {})
    if (!changes) return
    for (const [key, value] of Object.entries(changes)) {
      if (value === undefined) document.delete(key)
      else document.set(key, document.createNode(value))
    }
    await replaceFile(target, String(document)).catch((cause) => {
      throw unwritable(target, what, cause)
    })
  })
}

/** Read the map in a YAML file, an empty one if the file is missing or has none. */
export async function readYamlFile(path: string, what: string): Promise<Record<string, unknown>> {
  return ((await readDocument(path, what)).toJS() as Record<string, unknown> | null) ?? {}
}

async function readDocument(path: string, what: string): Promise<Document> {
  const { Document, isMap, parseDocument } = await import('yaml') // takes longer than all else here, which each minion loads
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return ''
    throw new CommandExecutionError(`Unable to read existing ${what}: ${path}: ${cause.code}`)
  })
  const document = parseDocument(text, yaml)
  const [error] = document.errors
  if (error) throw new CommandExecutionError(`Unable to read existing ${what}: ${path}: ${error.message}`)
  return isMap(document.contents) ? document : new Document({}, yaml)
}

/** Do `work` under a lock file. Fails when another process holds the lock for too long. */
async function withLock(path: string, what: string, work: () => Promise<void>): Promise<void> {
  const tooLong = () =>
    new CommandExecutionError(
      `Another process has locked the ${what} for more than ${LOCK_WAIT_MS / 1000} s; see ${path}`,
    )
  const release = await takeLock(path, { waitMs: LOCK_WAIT_MS, tooLong }).catch((cause) => {
    throw cause instanceof CommandExecutionError ? cause : unwritable(path, what, cause)
  })
  try {
    await work()
  } finally {
    await release()
  }
}

const unwritable = (path: string, what: string, cause: unknown) =>
  new CommandExecutionError(
    `Unable to write to ${what} at ${path} (${(cause as NodeJS.ErrnoException).code}). Check permissions.`,
  )

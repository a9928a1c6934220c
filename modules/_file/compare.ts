/** Diffs of two files, for `file.get_diff` and for the changes of managed files. */
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { textDiff } from './diff.ts'
import { errorText } from './paths.ts'
import { chunksOf, MAX_CONTENT_BYTES, readHead, readWhole, withFile } from './reading.ts'
import { isBinary, textOf } from './text.ts'

export interface DiffOptions {
  /** Names for the header of the diff. */
  readonly names?: readonly string[] | undefined
  readonly show_changes?: boolean
  /** Whether a file is made from a template, whose content the configuration may hide. */
  readonly template?: boolean
}

/** Path of a file, or a content, to compare. */
export type Compared = string | Buffer

/** Return the unified diff of two files; empty if they are equal. Of binary and very big files only that they differ. */
export async function diffBetween(
  before: Compared,
  after: Compared,
  { names, show_changes = true, template = false }: DiffOptions,
  context: Context,
): Promise<string> {
  if (await areEqual(before, after)) return ''
  if (template && (await hidesTemplates(context))) return '<Obfuscated Template>'
  if (!show_changes) return '<show_changes=False>'
  const [wasBinary, willBeBinary] = [isBinary(await headOf(before)), isBinary(await headOf(after))]
  if (wasBinary && willBeBinary) return 'Replace binary file'
  if (wasBinary) return 'Replace binary file with text file'
  if (willBeBinary) return 'Replace text file with binary file'
  if (Math.max(await sizeOf(before), await sizeOf(after)) > MAX_CONTENT_BYTES) return TOO_BIG
  const [old, next] = [textOf(await contentOf(before)), textOf(await contentOf(after))]
  try {
    return textDiff(old.text, next.text, names ? [...names] : ['', ''])
  } catch (error) {
    if (error instanceof SaltInvocationError) return TOO_BIG
    throw error
  }
}

const TOO_BIG = '<files too big for a diff>'

export const hidesTemplates = async ({ call }: Context): Promise<boolean> =>
  Boolean(await call('config.option', { value: 'obfuscate_templates' }))

const contentOf = async (given: Compared): Promise<Buffer> =>
  typeof given === 'string' ? readWhole(given) : given
const sizeOf = async (given: Compared): Promise<number> =>
  typeof given === 'string' ? withFile(given, async (_, { size }) => size) : given.length

const HEAD_BYTES = 512

/** The beginning of a content, without a character that is cut at its end. */
async function headOf(given: Compared): Promise<Buffer> {
  if (typeof given !== 'string') return given.subarray(0, HEAD_BYTES)
  return reading(given, () => readHead(given, HEAD_BYTES))
}

async function areEqual(one: Compared, other: Compared): Promise<boolean> {
  if (typeof one !== 'string') return typeof other === 'string' ? areEqual(other, one) : one.equals(other)
  return reading(one, () =>
    withFile(one, async (file) => {
      let position = 0
      if (typeof other !== 'string') {
        for await (const chunk of chunksOf(file)) {
          if (!other.subarray(position, position + chunk.length).equals(chunk)) return false
          position += chunk.length
        }
        return position === other.length
      }
      return reading(other, () =>
        withFile(other, async (second) => {
          const chunks = chunksOf(second)
          for await (const chunk of chunksOf(file)) {
            const next = await chunks.next()
            if (next.done || !next.value.equals(chunk)) return false
          }
          return (await chunks.next()).done === true
        }),
      )
    }),
  )
}

async function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const [, words] = /^\[Errno \d+\] ([^:]*): /.exec(errorText(error)) ?? []
    if (words === undefined) throw error
    throw new CommandExecutionError(`Failed to read ${path}: ${words}`)
  }
}

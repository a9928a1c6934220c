/** Attributes of files on ext2/3/4, XFS or btrfs, by lsattr(1) and chattr(1). */
import { type Context, SaltInvocationError } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { runProgram } from '../_program/run.ts'
import { exists } from './paths.ts'
import { forProgram, heldFile, refuseForeignName, withPlace } from './place.ts'

/** A name that is no option. */
const word = (path: string): string => (path.startsWith('-') ? `./${path}` : path)

/** List the attributes of a file, by its path; null without lsattr. */
export async function listAttributes(
  path: string,
  context: Context,
): Promise<Record<string, string[]> | null> {
  if ((await which('lsattr')) === null) return null
  if (!(await exists(path))) throw new SaltInvocationError(`File or directory does not exist: ${path}`)
  const { stdout } = await runProgram(['lsattr', word(path)], context, { ignoreRetcode: true, merged: true })
  const rows = stdout.split('\n').filter((row) => row !== '' && !row.startsWith('lsattr: '))
  return Object.fromEntries(
    rows.map((row) => {
      const [, attributes = '', name = ''] = /^(\S+)\s+(.*)$/.exec(row) ?? []
      return [name, attributes.match(/[aAcCdDeijPsStTu]/g) ?? []]
    }),
  )
}

interface Change {
  readonly operator: 'add' | 'remove'
  readonly attributes: string
  readonly flags?: string | undefined
  readonly version?: string | undefined
}

/** Add or remove attributes, each file by its name in the folder that is held, since chattr follows no link; false if chattr said anything. */
export async function changeAttribute(
  files: readonly string[],
  { operator, attributes, flags, version }: Change,
  context: Context,
): Promise<boolean> {
  const options = [...(flags ? [`-${flags}`] : []), ...(version ? ['-v', version] : [])]
  const change = `${operator === 'add' ? '+' : '-'}${attributes}`
  let isSilent = true
  for (const file of files) {
    const { stdout } = await withPlace(file, (place) => {
      refuseForeignName(place)
      heldFile(place)
      const { cwd, name } = forProgram(place)
      return runProgram(['chattr', change, ...options, name], context, { cwd, merged: true })
    })
    isSilent &&= stdout === ''
  }
  return isSilent
}

interface AttributeChanges {
  readonly old: string
  readonly added: string
  readonly removed: string
}

/** What to change so that a file has exactly these attributes; `e` cannot be removed. Undefined without lsattr. */
export async function attributeChanges(
  path: string,
  attrs: string,
  context: Context,
): Promise<AttributeChanges | undefined> {
  const listed = await listAttributes(path, context)
  if (!listed) return undefined
  const old = listed[path] ?? []
  const wanted = new Set([...attrs, ...old.filter((letter) => letter === 'e')])
  return {
    old: old.join(''),
    added: [...wanted].filter((letter) => !old.includes(letter)).join(''),
    removed: old.filter((letter) => !wanted.has(letter)).join(''),
  }
}

/** Make changes; true if each was made. */
export async function changeAttributes(
  path: string,
  { added, removed }: AttributeChanges,
  context: Context,
): Promise<boolean> {
  const { retcode } = context
  const isAdded =
    added === '' || (await changeAttribute([path], { operator: 'add', attributes: added }, context))
  const isRemoved =
    removed === '' || (await changeAttribute([path], { operator: 'remove', attributes: removed }, context))
  context.retcode = retcode
  return isAdded && isRemoved
}

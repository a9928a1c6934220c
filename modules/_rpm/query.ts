import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { listed, plainNames } from '../_pkg/names.ts'
import { oneOrAll } from '../_pkg/versions.ts'
import { runProgram } from '../_program/run.ts'
import { inRoot } from './installed.ts'

/** Run rpm in a root folder, for what it prints. */
export const rpm = (
  words: readonly string[],
  root: string | undefined,
  context: Context,
  options: { readonly ignoreRetcode?: boolean } = {},
) => runProgram(['rpm', ...inRoot(root), ...words], context, { ...options, quiet: true })

/** Whether rpm says that another program holds the lock of its database. */
export const isRpmLocked = (said: string): boolean => said.includes("can't create transaction lock")

/** List the files of packages, or of all. */
export async function fileList(names: readonly string[], root: string | undefined, context: Context) {
  plainNames(names)
  const { stdout } = await rpm([names.length > 0 ? '-ql' : '-qla', ...names], root, context)
  return { errors: [], files: stdout === '' ? [] : stdout.split('\n') }
}

const IS_MISSING = 'is not installed'

/** List the files of packages, or of all, by package. */
export async function fileDict(names: readonly string[], root: string | undefined, context: Context) {
  plainNames(names)
  const format = ['--queryformat', '%{NAME}\\n']
  const { stdout } = await rpm([names.length > 0 ? '-q' : '-qa', ...format, ...names], root, context)
  const lines = stdout.split('\n').filter(Boolean)
  const packages: Record<string, string[]> = {}
  for (const name of new Set(lines.filter((line) => !line.includes(IS_MISSING)))) {
    const files = await rpm(['-ql', name], root, context)
    packages[name] = files.stdout === '' ? [] : files.stdout.split('\n')
  }
  return { errors: lines.filter((line) => line.includes(IS_MISSING)), packages }
}

/** Find the package that owns a path, or ''. For several paths, a map. */
export async function ownerOf(paths: readonly string[], root: string | undefined, context: Context) {
  if (paths.length === 0) return ''
  const owners: Record<string, string> = {}
  for (const path of plainNames(paths)) {
    const { retcode, stdout } = await rpm(['-qf', '--queryformat', '%{NAME}\\n', path], root, context)
    owners[path] = retcode === 0 ? stdout.split('\n')[0]! : ''
  }
  return oneOrAll(owners, [...new Set(paths)])
}

const FILE_TYPES: Readonly<Record<string, string>> = {
  c: 'config',
  d: 'doc',
  g: 'ghost',
  l: 'license',
  r: 'readme',
}
const MISMATCHES = [
  'size',
  'mode',
  'md5sum',
  'device major/minor number',
  'readlink path',
  'user',
  'group',
  'mtime',
  'capabilities',
] as const
const LETTERS = 'SM5DLUGTP'

/** How to verify packages. */
export interface VerifyOptions {
  readonly ignore_types?: unknown
  readonly verify_options?: unknown
  readonly root?: string | undefined
}
export interface Verified {
  type?: string
  mismatch?: string[]
  missing?: true
}

/** Compare the files of packages, or of all, with what was installed. Returns those that differ. */
export async function verify(
  names: readonly string[],
  { ignore_types, verify_options, root }: VerifyOptions,
  context: Context,
): Promise<Record<string, Verified>> {
  plainNames(names)
  const options = listed(verify_options).map((name) => `--${name}`)
  if (options.some((option) => !/^--(?:no[a-z]+|[a-z]+)$/.test(option)))
    throw new SaltInvocationError(
      "verify_options must be a list, or text with commas, of rpm's options such as 'nodeps' or 'nofiles'",
    )
  const words = [...options, ...(names.length > 0 ? ['-V', ...names] : ['-Va'])]
  const { retcode, stdout, stderr } = await rpm(words, root, context, { ignoreRetcode: true })
  if (retcode !== 0 && stdout.trim() === '')
    throw new CommandExecutionError(`Failed to verify package(s)${stderr ? `: ${stderr}` : ''}`)
  const absent = stdout.split('\n').filter((line) => line.endsWith(IS_MISSING))
  if (absent.length > 0) throw new CommandExecutionError(`Failed to verify package(s): ${absent.join(', ')}`)
  const ignored = listed(ignore_types)
  const found = stdout.split('\n').flatMap((line) => verified(line) ?? [])
  return Object.fromEntries(
    found
      .filter(({ type }) => type === undefined || !ignored.includes(type))
      .map(({ path, ...rest }) => [path, rest]),
  )
}

function verified(line: string): (Verified & { path: string }) | undefined {
  const [, marks = '', letter, path] = /^(\S{8,9}|missing {0,5}) *(?: ([a-z]))? +(\/.*)$/.exec(line) ?? []
  if (path === undefined) return undefined
  const type = letter === undefined ? undefined : FILE_TYPES[letter]
  const missing = marks.startsWith('missing')
  return {
    path,
    ...(type && { type }),
    ...(missing
      ? { missing: true }
      : { mismatch: MISMATCHES.filter((_, index) => marks[index] === LETTERS[index]) }),
  }
}

const CHANGES = ['size', 'mode', 'checksum', 'device', 'symlink', 'owner', 'group', 'time', 'capabilities']

/** List the files of packages, or of all, that differ from what was installed, and in what; filtered by flags. */
export async function modified(
  names: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  root: string | undefined,
  context: Context,
) {
  plainNames(names)
  const words = names.length > 0 ? ['-V', ...names] : ['-Va']
  const { stdout, ...ended } = await rpm(words, root, context)
  if (ended.retcode > 1) return ended
  const found: Record<string, string[]> = {}
  for (const line of stdout.split('\n')) {
    const [, marks, letter, path] = /^(\S{7,9})(?: +([a-z]))? +(\/.*)$/.exec(line) ?? []
    if (marks === undefined || path === undefined) continue
    const changes =
      marks === 'missing' ? [marks] : CHANGES.filter((_, index) => (marks[index] ?? '.') !== '.')
    found[path] = letter === undefined ? changes : [...changes, 'config']
  }
  const wanted = Object.entries(flags)
  const fits = (changes: string[]) =>
    wanted.every(([name, value]) => changes.includes(name) === Boolean(value))
  return Object.fromEntries(Object.entries(found).filter(([, changes]) => fits(changes)))
}

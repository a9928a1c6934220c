import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { runProgram } from '../_program/run.ts'
import { fileInCpio } from './cpio.ts'
import { ownerOf } from './query.ts'

const LARGEST_FILE_BYTES = 64 * 1024 * 1024

/** Compare installed files with those of their packages, which `download` fetches: path → difference, or a sentence. */
export async function differences(
  paths: readonly string[],
  root: string | undefined,
  download: (names: readonly string[]) => Promise<Readonly<Record<string, string>>>,
  context: Context,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  const owners: Record<string, string> = {}
  for (const path of paths) {
    const owner = String(await ownerOf([path], root, context))
    if (owner !== '') owners[path] = owner
    else found[path] = (await stat(path).catch(() => undefined)) ? 'Not managed' : 'N/A'
  }
  const names = [...new Set(Object.values(owners))]
  const files = names.length > 0 ? await download(names) : {}
  for (const [path, owner] of Object.entries(owners)) {
    const file = files[owner]
    if (file === undefined) throw new CommandExecutionError(`The package ${owner} could not be downloaded`)
    found[path] = (await difference(file, path, context)) || 'Unchanged'
  }
  return found
}

/** Compare an installed file with that of a package file, as a unified diff; '' if they are equal. */
async function difference(packageFile: string, path: string, context: Context): Promise<string> {
  const original = await originalOf(packageFile, path, context)
  const current = await readFile(path)
  if (original.equals(current)) return ''
  if (original.includes(0) || current.includes(0))
    return `File '${path}' is binary and its content has been modified.`
  const folder = await mkdtemp(join(tmpdir(), 'salt-ts-rpm-'))
  try {
    const file = join(folder, 'original')
    await writeFile(file, original, { mode: 0o600 })
    const labels = ['--label', `A ${path}`, '--label', `B ${path}`]
    const words = ['diff', '-u', ...labels, file, path] as const
    return (await runProgram(words, context, { ignoreRetcode: true, quiet: true })).stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function originalOf(packageFile: string, path: string, { signal }: Context): Promise<Buffer> {
  const program = await which('rpm2cpio')
  if (program === null)
    throw new CommandExecutionError("The program rpm2cpio is not installed; it is part of the package 'rpm'")
  const child = spawn(program, [packageFile], { stdio: ['ignore', 'pipe', 'ignore'], signal })
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  try {
    const found = await Promise.race([fileInCpio(child.stdout, path, LARGEST_FILE_BYTES), failed])
    if (found) return found
  } finally {
    child.kill()
  }
  throw new CommandExecutionError(
    `${packageFile} has no file ${path}, or it is larger than ${LARGEST_FILE_BYTES} bytes`,
  )
}

import type { Stats } from 'node:fs'
import { CommandExecutionError, type Context } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import { which } from '../_cmd/which.ts'
import { type Outcome, runProgram } from '../_program/run.ts'
import { exists, expandHome } from './paths.ts'
import { forProgram, heldFile, heldForProgram, type Place, withPlace } from './place.ts'
import { MAX_CONTENT_BYTES, noFile, readWhole, tooBig } from './reading.ts'

/** Apply a patch with patch(1) to a file or folder. It goes to stdin, and the program begins in the folder that is held. */
export async function applyPatch(
  originalfile: string,
  patchfile: string,
  { options, dry_run }: { options: string; dry_run: boolean },
  context: Context,
): Promise<Outcome> {
  const program = await which('patch')
  if (program === null)
    throw new CommandExecutionError(
      "patch executable not found. Is the distribution's patch package installed?",
    )
  const file = await expandHome(originalfile)
  const patch = await expandHome(patchfile)
  // The program itself says that it cannot open the patch.
  if (!(await exists(patch)))
    return runProgram([program, '--dry-run', `--input=${patch}`, '--', file], context)
  const input = (await readWhole(patch)).toString('latin1')
  return withPlace(file, (place) => patchPlace(place, file, input, { options, dry_run }, context))
}

async function patchPlace(
  place: Place,
  path: string,
  input: string,
  { options, dry_run }: { options: string; dry_run: boolean },
  context: Context,
): Promise<Outcome> {
  const { at, stats } = heldFile(place)
  const given = splitWords(options)
  const has = (...starts: string[]) =>
    given.some((option) => starts.some((start) => option.startsWith(start)))
  const isOfFolder = stats.isDirectory()
  if (!isOfFolder) refuseUnfit(stats, path)
  const { cwd, name } = isOfFolder ? { cwd: heldForProgram(at), name: '.' } : forProgram(place)
  const words = [
    ...given,
    ...(dry_run ? ['--dry-run'] : []),
    ...(given.includes('-N') || given.includes('--forward') ? [] : ['--forward']),
    ...(given.includes('-r') || has('--reject-file') ? [] : ['--reject-file=-']),
    ...(isOfFolder && !has('-p', '--strip=') ? ['--strip=0'] : []),
    ...(isOfFolder ? [] : ['--', name]),
  ]
  const outcome = await runProgram(['patch', ...words], context, { cwd, input })
  const named = (text: string) => (isOfFolder ? text : text.replaceAll(name, path))
  return { ...outcome, stdout: named(outcome.stdout), stderr: named(outcome.stderr) }
}

function refuseUnfit(stats: Stats, path: string): void {
  if (!stats.isFile()) throw noFile(stats, path)
  if (stats.size > MAX_CONTENT_BYTES) throw tooBig(path, stats.size)
}

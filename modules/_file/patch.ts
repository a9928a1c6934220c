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
  return withPlace(file, (place) =>
    patchPlace(place, { program, path: file, input, options, dry_run }, context),
  )
}

interface Patch {
  readonly program: string
  readonly path: string
  readonly input: string
  readonly options: string
  readonly dry_run: boolean
}

async function patchPlace(
  place: Place,
  { program, path, input, options, dry_run }: Patch,
  context: Context,
): Promise<Outcome> {
  const held = place.file && heldFile(place)
  const given = splitWords(options)
  const has = (...starts: string[]) =>
    given.some((option) => starts.some((start) => option.startsWith(start)))
  const folder = held?.stats.isDirectory() ? held : undefined
  if (held && !folder) refuseUnfit(held.stats, path)
  const { cwd, name } = folder ? { cwd: heldForProgram(folder.at), name: '.' } : forProgram(place)
  const words = [
    ...given,
    ...(dry_run ? ['--dry-run'] : []),
    ...(given.includes('-N') || given.includes('--forward') ? [] : ['--forward']),
    ...(given.includes('-r') || has('--reject-file') ? [] : ['--reject-file=-']),
    ...(folder && !has('-p', '--strip=') ? ['--strip=0'] : []),
    ...(folder ? [] : ['--', name]),
  ]
  const outcome = await runProgram([program, ...words], context, { cwd, input })
  const named = (text: string) => (folder ? text : text.replaceAll(name, path))
  return { ...outcome, stdout: named(outcome.stdout), stderr: named(outcome.stderr) }
}

function refuseUnfit(stats: Stats, path: string): void {
  if (!stats.isFile()) throw noFile(stats, path)
  if (stats.size > MAX_CONTENT_BYTES) throw tooBig(path, stats.size)
}

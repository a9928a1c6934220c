import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { linesOf } from '../_cmd/lines.ts'
import { readRegular } from '../_file/regular.ts'
import { runProgram } from '../_program/run.ts'
import { readWorktrees } from './parse.ts'
import { type Caller, git, tryGit } from './run.ts'

export interface Worktree {
  readonly stale: boolean
  readonly HEAD: string
  readonly detached: boolean
  readonly branch: string | null
  readonly tags?: readonly string[]
}

/** List the worktrees of a repository by path: those that exist, those that are gone (`stale`), or both. */
export async function listWorktrees(
  how: Caller,
  wanted: { readonly stale: boolean; readonly all: boolean },
  context: Context,
): Promise<Record<string, Worktree>> {
  const output = await git(['worktree', 'list', '--porcelain'], how, context)
  const shown: Record<string, Worktree> = {}
  for (const { path, head, branch } of readWorktrees(output)) {
    const stale = !(await stat(path).catch(() => undefined))?.isDirectory()
    if (!wanted.all && stale !== wanted.stale) continue
    const tags = branch === undefined ? linesOf(await git(['tag', '--points-at', head], how, context)) : []
    shown[path] = {
      stale,
      HEAD: head,
      detached: branch === undefined,
      branch: branch ?? null,
      ...(tags.length > 0 && { tags }),
    }
  }
  return shown
}

/** Whether a folder is in a worktree that `git worktree add` made, and not in the main one. */
export async function isWorktree(how: Caller, context: Context): Promise<boolean> {
  if (how.cwd !== undefined && !(await stat(how.cwd).catch(() => undefined))) return false
  const { retcode, stdout } = await tryGit(
    ['rev-parse', '--show-toplevel'],
    { ...how, ignore_retcode: true },
    context,
  )
  if (retcode !== 0) return false
  const text = String(await readRegular(join(stdout, '.git')).catch(() => ''))
  const [, path] = /^gitdir:\s+(.*)/.exec(text) ?? []
  return path !== undefined && isAbsolute(path)
}

/** Remove the folder of a worktree. `git worktree prune` forgets it. */
export async function removeWorktree(cwd: string, how: Caller, context: Context): Promise<true> {
  if (!(await stat(cwd).catch(() => undefined))) throw new CommandExecutionError(`${cwd} does not exist`)
  if (!(await isWorktree({ ...how, cwd }, context)))
    throw new CommandExecutionError(`${cwd} is not a git worktree`)
  // Not with Node, whose rm can be led out of the folder by links that somebody places meanwhile.
  const removed = await runProgram(['rm', '-rf', '--', cwd], context, { runas: how.user })
  if (removed.retcode === 0) return true
  throw new CommandExecutionError(`Unable to remove ${cwd}: ${removed.stderr}`)
}

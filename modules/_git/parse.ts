/** Reads what git writes. */
import { linesOf } from '../_cmd/lines.ts'

const STATES: Readonly<Record<string, string>> = { M: 'modified', A: 'new', D: 'deleted', '??': 'untracked' }

/** Read the output of `git status -z --porcelain`: files by their state. */
export function readStatus(output: string): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  const entries = output.split('\0').filter(Boolean)
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] as string
    const state = entry.slice(0, 2).trim()
    const name = Object.hasOwn(STATES, state) ? (STATES[state] as string) : state
    found[name] = [...(found[name] ?? []), entry.slice(3)]
    // The former name follows.
    if (/[RC]/.test(state)) at++
  }
  return found
}

export interface Fetched {
  'new tags'?: string[]
  'new branches'?: string[]
  'updated branches'?: Record<string, { old: string; new: string }>
  'updated tags'?: string[]
}

const UPDATE = /^[\s*]*(?:([0-9a-f]+)\.\.([0-9a-f]+)|\[(?:new (tag|branch)|tag update)\])\s+(.+)->/

/** Read the output of `git fetch`: what is new. */
export function readFetch(output: string): Fetched {
  const fetched: Fetched = {}
  for (const line of linesOf(output)) {
    const [, before, after, kind, name] = UPDATE.exec(line) ?? []
    if (name === undefined) continue
    const ref = name.trimEnd()
    if (kind === 'tag') fetched['new tags'] = [...(fetched['new tags'] ?? []), ref]
    else if (kind === 'branch') fetched['new branches'] = [...(fetched['new branches'] ?? []), ref]
    else if (before !== undefined && after !== undefined)
      fetched['updated branches'] = { ...fetched['updated branches'], [ref]: { old: before, new: after } }
    else fetched['updated tags'] = [...(fetched['updated tags'] ?? []), ref]
  }
  return fetched
}

/** Read the output of `git ls-remote`: digests by ref. */
export function readRefs(output: string): Record<string, string> {
  const pairs = linesOf(output).map((line) => /^(\S+)\s+(.*)$/.exec(line))
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[2] as string, pair[1] as string]] : [])))
}

/** Read the output of `git remote --verbose`: URLs by remote and action. */
export function readRemotes(output: string): Record<string, Record<string, string>> {
  const remotes: Record<string, Record<string, string>> = {}
  for (const line of linesOf(output)) {
    const [, name, url, action] = /^(\S+)\s+(.*)\s+\((fetch|push)\)/.exec(line) ?? []
    if (name === undefined || url === undefined || action === undefined) continue
    remotes[name] = { ...remotes[name], [action]: url }
  }
  return remotes
}

/** Read the output of `git config --get-regexp`: lists of values by key. */
export function readConfig(output: string): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const line of linesOf(output)) {
    const [, key, value] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) found[key] = [...(found[key] ?? []), value]
  }
  return found
}

export interface Worktree {
  readonly path: string
  readonly head: string
  /** Undefined if its head is detached. */
  readonly branch: string | undefined
}

/** Read the output of `git worktree list --porcelain`. Worktrees without a head, such as bare ones, are left out. */
export function readWorktrees(output: string): Worktree[] {
  return output.split(/\n\n+/).flatMap((part) => {
    const facts = new Map(
      linesOf(part).map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)]),
    )
    const [path, head, branch] = ['worktree', 'HEAD', 'branch'].map((name) => facts.get(name))
    if (path === undefined || head === undefined || (branch === undefined && !facts.has('detached')))
      return []
    return [{ path, head, branch: branch?.replace('refs/heads/', '') }]
  })
}

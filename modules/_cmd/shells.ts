import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { which } from './which.ts'

interface Probe {
  readonly pattern: RegExp
  readonly words: readonly [program: string, ...args: string[]]
}

const PROBES = new Map<string, Probe>([
  ['bash', { pattern: /version (\d\S*)/i, words: ['bash', '--version'] }],
  ['zsh', { pattern: /^zsh (\d\S*)/im, words: ['zsh', '--version'] }],
  ['tcsh', { pattern: /^tcsh (\d\S*)/im, words: ['tcsh', '--version'] }],
  ['perl', { pattern: /^(\d\S*)/im, words: ['perl', '-e', 'printf "%vd\\n", $^V;'] }],
  ['python', { pattern: /^Python (\d\S*)/im, words: ['python', '-V'] }],
  ['ruby', { pattern: /^ruby (\d\S*)/im, words: ['ruby', '-v'] }],
  ['php', { pattern: /^PHP (\d\S*)/im, words: ['php', '-v'] }],
  ['node', { pattern: /^v(\d\S*)/im, words: ['node', '--version'] }],
])

/** List the shells in /etc/shells. */
export async function listShells(): Promise<string[]> {
  const text = await readFile('/etc/shells', 'utf8').catch(() => '')
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}

/** Find out whether a shell or scripting language is installed, its path and its version. */
export async function shellInfo(shell: string): Promise<Record<string, unknown>> {
  const probe = PROBES.get(shell)
  if (!probe)
    return { error: `Salt does not know how to get the version number for ${shell}`, installed: null }
  const path = await which(probe.words[0])
  const line = probe.words.join(' ')
  if (path === null)
    return {
      error: `Unable to run command '${line}' Reason: [Errno 2] No such file or directory: '${probe.words[0]}'`,
      installed: false,
    }
  const printed = await output(path, probe.words.slice(1))
  if (printed === undefined)
    return { error: `Unable to run command '${line}' Reason: Timed out.`, installed: false }
  return { path, ...versionIn(printed, probe.pattern, shell) }
}

function versionIn(printed: string, pattern: RegExp, shell: string): Record<string, unknown> {
  const raw = pattern.exec(printed)?.[1]
  const numbers = /^\d[\d.]*/
    .exec(raw ?? '')?.[0]
    .split('.')
    .filter(Boolean)
  if (!numbers) {
    const error = `The version regex pattern for shell ${shell}, could not find the version string`
    return { installed: null, ...(raw !== undefined && { version_raw: raw }), error, stdout: printed }
  }
  if (numbers.length === 1) numbers.push('0')
  return { installed: true, version_raw: raw, version: numbers.slice(0, 3).join('.') }
}

// Some programs print their version to stderr, or exit with an error. Only a timeout, after 10 s, is a failure.
function output(path: string, args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, HOME: process.env.HOME ?? homedir() }
  return new Promise((resolve) => {
    const child = execFile(path, [...args], { timeout: 10_000, env }, (error, stdout, stderr) =>
      resolve(error?.killed ? undefined : stdout + stderr),
    )
    child.stdin?.end()
  })
}

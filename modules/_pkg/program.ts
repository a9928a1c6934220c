import { stat } from 'node:fs/promises'
import type { Context } from 'salt-ts'
import { type Options, options, type ProcessResult } from '../_cmd/params.ts'
import { runCommand } from '../_cmd/run.ts'
import { which } from '../_cmd/which.ts'

const DEFAULTS = Object.fromEntries(
  Object.entries(options).map(([name, { default: value }]) => [name, value]),
) as unknown as Options

/** Options of a program that a package module starts. */
export type ProgramOptions = Partial<
  Pick<
    Options,
    'cwd' | 'env' | 'stdin' | 'runas' | 'ignore_retcode' | 'success_retcodes' | 'timeout' | 'umask' | 'rstrip'
  >
>

/** Run a program with a list of arguments, never through a shell, and return what `cmd.run_all` returns. */
export function runProgram(
  words: readonly string[],
  context: Context,
  given: ProgramOptions = {},
): Promise<ProcessResult> {
  return runCommand(words, { ...DEFAULTS, output_loglevel: 'trace', ...given }, context, { merged: false })
}

/**
 * Return the words that start a command in a systemd scope of its own, so that it survives a restart of the minion by the
 * package it upgrades. Without systemd, or with `systemd.scope: False`, these are the words themselves.
 */
export async function inScope(words: readonly string[], { opts }: Context): Promise<readonly string[]> {
  const booted = await stat('/run/systemd/system').then(
    () => true,
    () => false,
  )
  if (!booted || opts['systemd.scope'] === false) return words
  const launcher = await which('systemd-run')
  return launcher === null ? words : [launcher, '--scope', '--description', 'salt-ts: packages', ...words]
}

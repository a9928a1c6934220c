import type { Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { isBooted } from './booted.ts'

type Words = readonly [string, ...string[]]

/**
 * Return the words that start a program in a systemd scope of its own, so that it outlives a restart of the minion that it
 * causes. Without systemd, or with `systemd.scope: False` in the configuration, grains or pillar, these are the words
 * themselves.
 */
export async function inScope(words: Words, context: Context, description?: string): Promise<Words> {
  if (!wantsScope(context) || !(await isBooted(context))) return words
  const launcher = await which('systemd-run')
  if (launcher === null) return words
  return [launcher, '--scope', ...(description ? ['--description', description] : []), ...words]
}

function wantsScope({ opts, grains, pillar }: Context): boolean {
  const set = [opts, grains, pillar].map((source) => source['systemd.scope'])
  return Boolean(set.find((value) => value !== undefined) ?? true)
}

/** Remove what systemd-run says about the scope: `Running scope as unit: run-r1.scope`. */
export const withoutScope = (stderr: string): string =>
  stderr
    .split('\n')
    .filter((line) => !/\.scope(; invocation ID: \w+)?$/.test(line))
    .join('\n')
    .trim()

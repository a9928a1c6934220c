/** Prints events on the terminal, for `event.listen` and `state.event`. */
import { writeSync } from 'node:fs'
import { type Args, type Context, jsonText, p } from 'salt-ts'
import { fnmatch, type PythonRegExp, pythonRegExp, screened } from '#internal'

export const listenParams = {
  tagmatch: p.default(p.described(p.string(), 'A shell pattern, or a regular expression.'), '*'),
  count: p.default(p.integer({ minimum: -1 }), -1),
  quiet: p.default(p.boolean(), false),
  sock_dir: p.optional(p.described(p.string(), 'Has no effect: the configuration has the directory.')),
  pretty: p.default(p.boolean(), false),
  node: p.default(p.described(p.enum('master'), 'Only the event bus of the master.'), 'master'),
}

/** Print events as `tag<TAB>JSON` lines until `count` have been printed. `show` writes a line. */
export async function listen(
  { tagmatch, count, quiet, pretty }: Args<typeof listenParams>,
  { master, signal }: Context,
  show: (line: string) => void = showOnStandardOutput,
): Promise<null> {
  if (count === 0) return null
  const fits = matcherOf(tagmatch)
  let seen = 0
  for await (const { tag, data } of master.events(literalStart(tagmatch), signal)) {
    if (!fits(tag)) continue
    if (!quiet) {
      show(`${tag}\t${jsonText(data, { step: pretty ? 4 : undefined })}\n`)
    }
    if (++seen === count) break
  }
  return null
}

/**
 * Write to the file descriptor of standard output: these lines are the result, while `salt-run` redirects `process.stdout` of
 * runners to standard error.
 */
function showOnStandardOutput(text: string): void {
  const shown = process.stdout.isTTY ? screened(text) : text
  for (let rest = Buffer.from(shown); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
        process.stdout.emit('error', error)
        return
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10) // a slow reader
    }
  }
}

/** Return the test of tags. As in Salt, a pattern may be a shell pattern or a regular expression; a match as either counts. */
function matcherOf(pattern: string): (tag: string) => boolean {
  const expression = expressionOf(pattern)
  return (tag) => fnmatch(tag, pattern) || expression?.matches(tag) === true
}

function expressionOf(pattern: string): PythonRegExp | undefined {
  try {
    return pythonRegExp(`(?:${pattern})\\Z`)
  } catch {
    return undefined // a shell pattern
  }
}

/** Return the text that every matching tag begins with. */
function literalStart(pattern: string): string {
  if (pattern.includes('|')) return ''
  const [start] = /^[^*?[\\.+({^$]*/.exec(pattern) as RegExpExecArray
  const isRepeated = /^[*?+{]/.test(pattern.slice(start.length)) // the last character may be absent
  return isRepeated ? start.slice(0, -1) : start
}

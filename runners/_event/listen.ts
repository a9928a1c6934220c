/** Events on the terminal, for `event.listen` and `state.event`. */
import { type Args, type Context, fnmatch, jsonText, p } from 'salt-ts'

export const listenParams = {
  tagmatch: p.default(p.string(), '*'),
  count: p.default(p.integer({ minimum: -1 }), -1),
  quiet: p.default(p.boolean(), false),
  sock_dir: p.optional(p.described(p.string(), 'Has no effect: it is that of the configuration.')),
  pretty: p.default(p.boolean(), false),
  node: p.default(p.described(p.enum('master'), 'Only the bus of the master.'), 'master'),
}

/** Prints `tag<TAB>JSON` a line, until `count` were seen. */
export async function listen(
  { tagmatch, count, quiet, pretty }: Args<typeof listenParams>,
  { master, signal }: Context,
): Promise<null> {
  if (count === 0) return null
  let seen = 0
  for await (const { tag, data } of master.events(literalStart(tagmatch), signal)) {
    if (!fnmatch(tag, tagmatch)) continue
    if (!quiet) {
      process.stdout.write(`${tag}\t${jsonText(data, { step: pretty ? 4 : undefined })}\n`)
    }
    if (++seen === count) break
  }
  return null
}

/** What every matching tag begins with. */
function literalStart(pattern: string): string {
  return (/^[^*?[]*/.exec(pattern) as RegExpExecArray)[0]
}

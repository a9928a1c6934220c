/** The master's event bus: send an event, watch events go by. */
import { type Context, fn, fnmatch, jsonText, p } from 'salt-ts'

/**
 * Fire an event on the master's bus. Answers true when it was handed over.
 *
 * @example salt-run event.send my/tag '{"what": "ever"}'
 */
export const send = fn(
  { tag: p.string({ minLength: 1 }), data: p.default(p.record(p.any()), {}), more: p.keywords(p.any()) },
  ({ tag, data, more }, { master }) => master.fire(tag, { ...data, ...more }),
)

/**
 * Print events as they happen, `tag<TAB>JSON` a line, until `count` were seen (-1: for ever).
 *
 * @example salt-run event.listen 'salt/job/*' count=5 pretty=True
 */
export const listen = fn(
  {
    tagmatch: p.default(p.string(), '*'),
    count: p.default(p.integer({ minimum: -1 }), -1),
    quiet: p.default(p.boolean(), false),
    pretty: p.default(p.boolean(), false),
  },
  async ({ tagmatch, count, quiet, pretty }, { master, signal }: Context) => {
    if (count === 0) return null
    let seen = 0
    for await (const { tag, data } of master.events(literalStart(tagmatch), signal)) {
      if (!fnmatch(tag, tagmatch)) continue
      if (!quiet) process.stdout.write(`${tag}\t${jsonText(data, { step: pretty ? 4 : undefined })}\n`)
      if (++seen === count) break
    }
    return null
  },
)

/** What every matching tag begins with. */
function literalStart(pattern: string): string {
  return (/^[^*?[]*/.exec(pattern) as RegExpExecArray)[0]
}

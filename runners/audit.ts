/** The master's audit log: who did what, and who was refused what (`audit_log`). */
import { type Context, fn, p } from 'salt-ts'

/**
 * Verify that the audit log is intact. Lines that were changed, removed, inserted or moved are reported by number,
 * and the exit code is then 1. `last` is the current last line: if you note it elsewhere, a later check shows that no
 * earlier line was rewritten or cut off.
 *
 * @example salt-run audit.verify
 * @example salt-run audit.verify since=1042 hash=9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab
 */
export const verify = fn(
  {
    since: p.optional(p.integer({ minimum: 1, description: 'The seq of a line noted earlier.' })),
    hash: p.optional(p.string({ pattern: '^[0-9a-f]{64}$', description: 'The hash of that line.' })),
  },
  async (noted, context: Context) => {
    const report = await context.master.audit.verify(noted)
    if (!report.valid) context.retcode = 1
    return report
  },
)

/**
 * List the newest lines, oldest first. All names are compared exactly, except `user` and `address`, which are shell
 * patterns.
 *
 * @example salt-run audit.list limit=20
 * @example salt-run audit.list user='web*' act=publish verdict=refused
 * @example salt-run audit.list address='10.1.*'
 */
export const list = fn(
  {
    user: p.optional(p.string()),
    act: p.optional(p.string({ description: 'publish, runner, wheel, key, login, logout, peer, …' })),
    verdict: p.optional(p.enum('allowed', 'refused')),
    address: p.optional(
      p.string({ description: 'The origin of the request, if it is known; a minion id for minions.' }),
    ),
    limit: p.default(p.integer({ minimum: 1, maximum: 1_000_000 }), 50),
  },
  (query, { master }) => master.audit.list(query),
)

/** The audit log of the master: who did what, and who was refused what (`audit_log`). */
import { type Context, fn, p } from 'salt-ts'

/**
 * Whether it is whole: a line that was changed, removed, inserted or moved is named by its number, and the exit code
 * is 1 then. `last` is the last line there is: noted elsewhere, it shows later that nothing before it was remade or cut off.
 *
 * @example salt-run audit.verify
 * @example salt-run audit.verify since=1042 hash=9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab
 */
export const verify = fn(
  {
    since: p.optional(p.integer({ minimum: 1, description: 'The seq of a line that was noted.' })),
    hash: p.optional(p.string({ pattern: '^[0-9a-f]{64}$', description: 'Its hash.' })),
  },
  async (noted, context: Context) => {
    const report = await context.master.audit.verify(noted)
    if (!report.valid) context.retcode = 1
    return report
  },
)

/**
 * The newest lines, oldest first; all names are compared exactly but `user` and `address`, which are shell patterns.
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
      p.string({ description: 'From where, as far as that is told: of minions their ids.' }),
    ),
    limit: p.default(p.integer({ minimum: 1, maximum: 1_000_000 }), 50),
  },
  (query, { master }) => master.audit.list(query),
)

/** Execution functions, on the master's host or on minions. */
import { fn, p, untyped } from 'salt-ts'
import { tgt, tgt_type } from './_target.ts'

/**
 * Run an execution function on the master's host, with its grains. Functions that need a minion are refused.
 *
 * @example salt-run salt.cmd cmd.run 'uptime'
 */
export const cmd = fn(
  { fun: p.string(), args: p.rest(p.any()), kwargs: p.keywords(p.any()) },
  ({ fun, args, kwargs }, { master }) => {
    const own = Object.entries(kwargs).filter(([name]) => !name.startsWith('__'))
    return master.call(fun, args, Object.fromEntries(own))
  },
)

/**
 * Run a function on minions. Returns id → return, for the minions that returned.
 *
 * @example salt-run salt.execute 'web*' cmd.run arg='[uptime]' timeout=5
 */
export const execute = fn(
  {
    tgt,
    fun: p.string(),
    arg: p.default(p.any(), []),
    timeout: p.optional(p.number({ minimum: 0 })),
    tgt_type,
    ret: p.default(p.string(), ''),
    jid: p.default(p.string(), ''),
    kwarg: p.optional(p.record(p.any())),
  },
  async ({ tgt, fun, arg, timeout, tgt_type: tgtType, ret, jid, kwarg }, { master }) => {
    const returns: Record<string, unknown> = {}
    const given = { arg: Array.isArray(arg) ? arg : [arg], kwarg }
    for await (const result of master.run({ tgt, fun: untyped(fun), ...given, timeout, tgtType, ret, jid })) {
      if (result.missing === undefined) returns[result.id] = result.return
    }
    return returns
  },
)

import { Access, type Caller, checkAccess, localName } from '../../auth/index.ts'
import type { Log } from '../../author/context.ts'
import type { AccessAdmin, AccessQuestion } from '../../author/master.ts'
import { SaltError } from '../../base/errors.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import type { MinionData } from '../../cache/minion-data.ts'
import type { MasterConfig } from '../../config/index.ts'
import { groupsOf } from '../../keys/index.ts'
import { expectedMinions } from '../../targets/index.ts'
import { openMatchers } from '../../targets/open-match.ts'

interface AccessSources {
  acceptedIds(): Promise<readonly string[]>
  minions(): Promise<MinionData>
}

/** Decide access as a master with this configuration does. */
export function createAccessAdmin(config: MasterConfig, log: Log, sources: AccessSources): AccessAdmin {
  return {
    async test(question) {
      for (const problem of checkAccess(config)) log.error(problem)
      const caller = await callerOf(question, config)
      const [matcher, data, accepted] = await Promise.all([
        openMatchers(config, log),
        sources.minions(),
        sources.acceptedIds(),
      ])
      const access = new Access(config, { matcher, subjects: (ids) => cachedMinions(ids, data), log })
      const { kind, fun, args, kwargs, tgt, tgtType, returners = [] } = question
      if (kind !== 'publish') return access.authorize(caller, [{ kind, fun, args, kwargs }])
      const target = { tgt, tgt_type: tgtType }
      const { minions, missing } = expectedMinions(target, cachedMinions(accepted, data), matcher)
      const ids = minions.length > 0 ? [...minions, ...missing] : []
      const { limited, ...decision } = {
        limited: false,
        ...access.authorizeJob(caller, [{ kind, fun, args, kwargs, minions: ids }], {
          returners,
          given: [],
          minions: ids,
        }),
      }
      return { ...decision, minions }
    },
  }
}

async function callerOf({ user, eauth, groups }: AccessQuestion, config: MasterConfig): Promise<Caller> {
  if (eauth !== undefined) {
    const known = Object.keys(config.external_auth)
    if (known.includes(eauth)) return { name: user, by: 'eauth', eauth, groups: groups ?? [] }
    const which = known.length > 0 ? `it names ${known.join(', ')}` : 'it is empty'
    throw new SaltError('INVALID_ARGUMENTS', `external_auth does not name the backend '${eauth}': ${which}.`)
  }
  const isSudo = user.startsWith('sudo_')
  const hasRules = config.sudo_acl && Object.keys(config.publisher_acl).length > 0
  if (user === 'root' || user === config.user || (isSudo && !hasRules))
    return { name: user, by: 'key', groups: [], unrestricted: true }
  return { name: user, by: 'key', groups: groups ?? (await groupsOf(localName(user))) }
}

/** What users are allowed to do, and by which rule. */
import { fn, p } from 'salt-ts'

/**
 * Check whether a user may run a function on minions. Shows the verdict and the rule that decides, or why no rule
 * allows it. Uses the configuration files as they are now. With `external_auth` no password is checked, so give the
 * user's groups.
 *
 * @example salt-run acl.test fred 'web*' pkg.install nginx eauth=pam groups='[ops]'
 * @example salt-run acl.test fred 'web*' cmd.run 'ls /srv' cwd=/srv
 * @example salt-run acl.test fred 'web*' test.ping returners='[postgres]'
 * @example salt-run acl.test fred '' jobs.list_jobs kind=runner eauth=ldap
 */
export const test = fn(
  {
    user: p.described(p.string({ minLength: 1 }), 'A user name; sudo_<name> for a user of sudo.'),
    target: p.any(),
    fun: p.string({ minLength: 1 }),
    args: p.rest(p.any()),
    eauth: p.optional(
      p.string({ description: 'A backend of external_auth. Without it, publisher_acl is checked.' }),
    ),
    groups: p.optional(p.array(p.string())),
    kind: p.default(p.enum('publish', 'runner', 'wheel'), 'publish'),
    tgt_type: p.default(p.string(), 'glob'),
    returners: p.optional(p.array(p.string({ description: 'The returners of --return.' }))),
    kwargs: p.keywords(p.any()),
  },
  ({ target: tgt, tgt_type: tgtType, kwargs, ...question }, { master }) => {
    const own = Object.entries(kwargs).filter(([name]) => !name.startsWith('__'))
    return master.access.test({ ...question, tgt, tgtType, kwargs: Object.fromEntries(own) })
  },
)

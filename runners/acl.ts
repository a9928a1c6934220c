/** Who may do what, and by which rule. */
import { fn, p } from 'salt-ts'

/**
 * Would this user be allowed to run this function on these minions? Shows the verdict with the rule that makes it, or why
 * there is none. Goes by the configuration as it is in the files now; who uses `external_auth` is asked for no password, so
 * say which groups they are in.
 *
 * @example salt-run acl.test fred 'web*' pkg.install nginx eauth=pam groups='[ops]'
 * @example salt-run acl.test fred 'web*' cmd.run 'ls /srv' cwd=/srv
 * @example salt-run acl.test fred 'web*' test.ping returners='[postgres]'
 * @example salt-run acl.test fred '' jobs.list_jobs kind=runner eauth=ldap
 */
export const test = fn(
  {
    user: p.described(p.string({ minLength: 1 }), 'A name; sudo_<name> for who uses sudo.'),
    target: p.any(),
    fun: p.string({ minLength: 1 }),
    args: p.rest(p.any()),
    eauth: p.optional(
      p.string({ description: 'A backend of external_auth; else it is about publisher_acl.' }),
    ),
    groups: p.optional(p.array(p.string())),
    kind: p.default(p.enum('publish', 'runner', 'wheel'), 'publish'),
    tgt_type: p.default(p.string(), 'glob'),
    returners: p.optional(p.array(p.string({ description: 'Of --return.' }))),
    kwargs: p.keywords(p.any()),
  },
  ({ target: tgt, tgt_type: tgtType, kwargs, ...question }, { master }) => {
    const own = Object.entries(kwargs).filter(([name]) => !name.startsWith('__'))
    return master.access.test({ ...question, tgt, tgtType, kwargs: Object.fromEntries(own) })
  },
)

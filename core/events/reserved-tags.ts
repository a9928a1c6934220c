/**
 * First parts of the tags that masters fire, and on which their listeners act. A minion may not fire such a tag, since listeners
 * trust it as coming from the master.
 */
const RESERVED_FAMILIES = new Set(['salt', 'syndic', 'minion', 'key', 'new_job', 'cluster'])

/** Fixed tags that a minion or syndic fires about itself. The master puts the sender's id into the data. */
const OWN_SINGLE_TAGS = new Set(['minion_start', 'syndic_start', 'minion_ping', '_salt_error'])

/** Prefixes that belong to a single minion. `*` is any one part that is not empty, `<id>` the sender. */
const OWN_PREFIXES = [
  'salt/beacon/<id>',
  'salt/minion/<id>',
  'salt/syndic/<id>',
  'salt/job/*/prog/<id>',
  'salt/job/*/stored/<id>',
  'salt/state_result/*/<id>',
  'minion/<id>',
  'syndic/<id>',
].map((prefix) => prefix.split('/'))

/** Complete tags that belong to a single minion. */
const OWN_TAGS = ['salt/job/*/start/<id>'].map((tag) => tag.split('/'))

/**
 * Whether a minion may *not* fire this tag on the master's bus (CVE-2025-22236 and -22239: Salt allowed every tag, so a minion
 * could forge returns, keys and jobs of others). Everything is denied except:
 *
 * - its own tags: `minion_start`, `minion_ping`, `_salt_error`, `salt/job/<jid>/start/<id>`, and all tags with the prefixes
 *   `salt/beacon/<id>/`, `salt/minion/<id>/`, `salt/job/<jid>/prog/<id>/`, `salt/job/<jid>/stored/<id>/`, `minion/<id>/`, …
 *   with its own id (but not `minion/refresh/<id>`, which the master fires);
 * - custom tags of users, whose first part Salt does not use. Not allowed are tags that begin with `salt`, `syndic`, `minion`,
 *   `key`, `new_job`, `cluster`, with a job id, with `_` or with a slash, and tags with control characters.
 */
export function isReservedTag(tag: string, senderId: string): boolean {
  if (tag === '' || hasControlCharacter(tag)) return true
  if (isOwnTag(tag, senderId)) return false
  const [family = ''] = tag.split('/')
  return family === '' || family.startsWith('_') || /^\d{20}/.test(family) || RESERVED_FAMILIES.has(family)
}

/** Whether a tag is a minion's own, so that listeners take the `id` in the data as the sender. */
export function isOwnTag(tag: string, senderId: string): boolean {
  if (OWN_SINGLE_TAGS.has(tag)) return true
  const parts = tag.split('/')
  if (parts[0] === 'minion' && parts[1] === 'refresh') return false
  if (OWN_TAGS.some((own) => parts.length === own.length && beginsWith(parts, own, senderId))) return true
  return OWN_PREFIXES.some((prefix) => parts.length > prefix.length && beginsWith(parts, prefix, senderId))
}

function beginsWith(parts: readonly string[], prefix: readonly string[], senderId: string): boolean {
  return prefix.every((part, index) => {
    if (part === '*') return parts[index] !== ''
    return parts[index] === (part === '<id>' ? senderId : part)
  })
}

function hasControlCharacter(tag: string): boolean {
  for (let i = 0; i < tag.length; i++) if (tag.charCodeAt(i) < 0x20 || tag.charCodeAt(i) === 0x7f) return true
  return false
}

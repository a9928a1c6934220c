/**
 * First parts of the tags by which masters, and programs that listen to them, speak and act: a tag that begins with
 * one of them says that the master knows something, so a minion may not say it.
 */
const RESERVED_FAMILIES = new Set(['salt', 'syndic', 'minion', 'key', 'new_job', 'cluster'])

/** Single tags by which a minion or syndic speaks of itself; the sender's id is in the data, put there by the master. */
const OWN_SINGLE_TAGS = new Set(['minion_start', 'syndic_start', 'minion_ping', '_salt_error'])

/** Families in which a minion has a place of its own. `*` is any one part that is not empty, `<id>` the sender. */
const OWN_PLACES = [
  'salt/beacon/<id>',
  'salt/minion/<id>',
  'salt/syndic/<id>',
  'salt/job/*/prog/<id>',
  'salt/job/*/stored/<id>',
  'salt/state_result/*/<id>',
  'minion/<id>',
  'syndic/<id>',
].map((place) => place.split('/'))

/** Tags that are a minion's own as they are; nothing follows. */
const OWN_TAGS = ['salt/job/*/start/<id>'].map((tag) => tag.split('/'))

/**
 * Whether a minion may *not* fire this tag on the master's bus (CVE-2025-22236 and -22239: Salt let it fire any, so a
 * minion could report returns, keys and jobs of others). Denied unless known to be harmless:
 *
 * - its own tags: `minion_start`, `minion_ping`, `_salt_error`, `salt/job/<jid>/start/<id>`, and whatever follows
 *   `salt/beacon/<id>/`, `salt/minion/<id>/`, `salt/job/<jid>/prog/<id>/`, `salt/job/<jid>/stored/<id>/`, `minion/<id>/`, … with its own id (but not
 *   `minion/refresh/<id>`, which the master fires);
 * - free tags, as users invent them: of any family that Salt itself does not use. Not free are those that begin with
 *   `salt`, `syndic`, `minion`, `key`, `new_job`, `cluster`, with a job id, with `_` or with a slash, and those with
 *   control characters.
 */
export function isReservedTag(tag: string, senderId: string): boolean {
  if (tag === '' || hasControlCharacter(tag)) return true
  if (isOwnTag(tag, senderId)) return false
  const [family = ''] = tag.split('/')
  return family === '' || family.startsWith('_') || /^\d{20}/.test(family) || RESERVED_FAMILIES.has(family)
}

/** Whether a minion speaks of itself under this tag, so that listeners take the `id` in the data for the sender. */
export function isOwnTag(tag: string, senderId: string): boolean {
  if (OWN_SINGLE_TAGS.has(tag)) return true
  const parts = tag.split('/')
  if (parts[0] === 'minion' && parts[1] === 'refresh') return false
  if (OWN_TAGS.some((own) => parts.length === own.length && beginsWith(parts, own, senderId))) return true
  return OWN_PLACES.some((place) => parts.length > place.length && beginsWith(parts, place, senderId))
}

function beginsWith(parts: readonly string[], place: readonly string[], senderId: string): boolean {
  return place.every((wanted, index) => {
    if (wanted === '*') return parts[index] !== ''
    return parts[index] === (wanted === '<id>' ? senderId : wanted)
  })
}

function hasControlCharacter(tag: string): boolean {
  for (let i = 0; i < tag.length; i++) if (tag.charCodeAt(i) < 0x20 || tag.charCodeAt(i) === 0x7f) return true
  return false
}

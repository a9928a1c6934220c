import type { KeyAdmin } from 'salt-ts'
import { fnmatch } from '#internal'

/** The hash of a fingerprint with so many digits. */
const HASHES: Readonly<Record<number, string>> = {
  32: 'md5',
  40: 'sha1',
  56: 'sha224',
  64: 'sha256',
  96: 'sha384',
  128: 'sha512',
}

type Texts = Readonly<Record<string, string>>

/** Accept the pending keys of ids that have the given fingerprint. Returns those fingerprints, and why the others are not accepted. */
export async function acceptByFingers(
  keys: Pick<KeyAdmin, 'finger' | 'acceptDict'>,
  isMeant: (id: string) => boolean,
  fingers: Texts,
): Promise<[accepted: Texts, failures: Texts]> {
  const accepted: Record<string, string> = {}
  const failures: Record<string, string> = {}
  for (const [id, finger] of Object.entries(fingers).filter(([id]) => isMeant(id))) {
    const problem = await problemOf(id, finger, keys)
    if (problem === undefined) accepted[id] = finger
    else failures[id] = problem
  }
  const pending = Object.keys(accepted)
  if (pending.length > 0) await keys.acceptDict({ minions_pre: pending })
  return [accepted, failures]
}

/** Return a function that says whether a target means an id: a pattern, or a list of ids. */
export function meaning(target: unknown, tgtType: 'glob' | 'list'): (id: string) => boolean {
  if (tgtType === 'glob') return (id) => fnmatch(id, String(target))
  const ids = Array.isArray(target) ? target.map(String) : String(target).split(',')
  return (id) => ids.includes(id)
}

async function problemOf(
  id: string,
  finger: string,
  keys: Pick<KeyAdmin, 'finger'>,
): Promise<string | undefined> {
  const hash = HASHES[digitsOf(finger).length]
  if (hash === undefined)
    return `'${finger}' is not a fingerprint. Copy what 'salt-call --local key.finger' prints on the minion.`
  // An id is no pattern here: of what it matches, only the key of that id is read.
  const { minions = {}, minions_pre = {} } = await keys.finger(id, hash)
  const pending = minions_pre[id]
  if (pending === undefined)
    return minions[id] === undefined
      ? `There is no pending key of ${id}.`
      : `The key of ${id} is accepted already${digitsOf(minions[id]) === digitsOf(finger) ? '' : ', and has another fingerprint'}.`
  if (digitsOf(pending) === digitsOf(finger)) return undefined
  return `The pending key of ${id} has the fingerprint ${pending}, not ${finger}. It may be somebody else's.`
}

const digitsOf = (finger: string): string => finger.replaceAll(':', '').toLowerCase()

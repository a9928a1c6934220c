import { PrivateKey } from '../../core/crypto/index.ts'
import { vectors } from './vectors.ts'

const recorded = vectors<Record<string, string>>('keys')
const pairs = new Map<string, Promise<PrivateKey>>()

/** The key pair of `master`, `master_sign`, `wire1`, `wire2`: the recorded one, which costs nothing. Others are made once. */
export function keyPair(owner: string): Promise<PrivateKey> {
  const known = pairs.get(owner)
  if (known) return known
  const pem = recorded[`${owner}_private_pem`] ?? recorded[`minion_${owner}_private_pem`]
  const pair = pem ? Promise.resolve(PrivateKey.parse(pem)) : PrivateKey.generate(2048)
  pairs.set(owner, pair)
  return pair
}

/** Run by the tests as a process of its own: offers `count` different keys for one id, and prints the verdicts. */
import { KeyStore } from '../../../core/keys/index.ts'
import { randomPem } from './pems.ts'
import { policy } from './policies.ts'

const [pkiDir = '', id = '', count = ''] = process.argv.slice(2)
const keys = new KeyStore(pkiDir)
const pems = Array.from({ length: Number(count) }, randomPem)
const outcomes = await Promise.all(pems.map((pem) => keys.offer(id, pem, policy())))
process.stdout.write(outcomes.map(({ verdict }) => verdict).join(' '))

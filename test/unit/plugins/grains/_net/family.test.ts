import { isIP } from 'node:net'
import { expect, test } from 'vitest'
import { familyOf } from '../../../../../plugins/grains/_net/family.ts'

const texts = [
  ...['127.0.0.1', '255.255.255.255', '1.2.3', '01.2.3.4', '1.2.3.4.5', '1.2.3.256', '', ' ', 'localhost'],
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fe80::1%', 'FE80::1', '::ffff:1.2.3.4', '1:2:3:4:5:6:7:8'],
  ...['1:2:3:4:5:6:7', '1::2::3', ':::', '::1 ', '[::1]', '::g', '12345::', '::1.2.3', ':', 'a:b', '%eth0:'],
]

test.each(texts)('the family of %j is that of isIP of Node', (text) => {
  expect(familyOf(text)).toBe(isIP(text))
})

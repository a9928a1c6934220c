import { expect, test } from 'vitest'

import subject, { isGpu, named } from '../../../../../plugins/grains/_core/gpus.ts'
import { collectFrom } from '../context.ts'

const names = `# a comment
1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t73bf  Navi 21 [Radeon RX 6800]
\t\t1002 0e3a  a board with this chip
10de  NVIDIA Corporation
\t1eb8  TU104GL [Tesla T4]
\t73bf  a device of another vendor
C 03  Display controller
`
const device = (vendor: string, id: string, kind = '030000') => ({ class: kind, vendor, device: id })

test.each([
  ['a VGA controller', '030000', true],
  ['a 3D controller', '030200', true],
  ['a display controller', '038000', true],
  ['a processing accelerator', '120000', true],
  ['an XGA controller', '030100', false],
  ['a network card', '020000', false],
])('%s counts as a graphics processor, or not, as in Salt', (_, kind, expected) => {
  expect(isGpu(device('10de', '1eb8', kind))).toBe(expected)
})

test('a graphics processor has the short name of its vendor and the model of pci.ids', () => {
  expect(named([device('10de', '1eb8'), device('1002', '73bf')], names)).toEqual([
    { vendor: 'nvidia', model: 'TU104GL [Tesla T4]' },
    { vendor: 'amd', model: 'Navi 21 [Radeon RX 6800]' },
  ])
})

test('a graphics processor that is not in pci.ids is named by its number', () => {
  expect(named([device('10de', 'ffff'), device('1234', '1111')], names)).toEqual([
    { vendor: 'nvidia', model: 'Device ffff' },
    { vendor: 'unknown', model: 'Device 1111' },
  ])
})

test('the number of graphics processors of this host is found', async () => {
  const { grains, lines } = await collectFrom(subject)
  expect(lines).toEqual([])
  expect(grains).toEqual({ num_gpus: (grains.gpus as unknown[]).length, gpus: expect.any(Array) })
})

test.each(['enable_gpu_grains', 'enable_lspci'])('with %s: false they are not searched', async (option) => {
  expect((await collectFrom(subject, { [option]: false })).grains).toEqual({ num_gpus: 0, gpus: [] })
})

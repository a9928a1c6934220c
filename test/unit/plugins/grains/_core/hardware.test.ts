import os from 'node:os'
import { expect, test } from 'vitest'

import subject, { memory, processors } from '../../../../../plugins/grains/_core/hardware.ts'
import { collectFrom } from '../context.ts'

test.each([
  [
    'x86',
    'processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nflags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: Xeon\n',
    { num_cpus: 2, cpu_model: 'Xeon', cpu_flags: ['fpu', 'vme'] },
  ],
  [
    'ARM',
    'processor\t: 0\nmodel name\t: ARMv7 rev 4\nFeatures\t: half thumb\n',
    { num_cpus: 1, cpu_model: 'ARMv7 rev 4', cpu_flags: ['half', 'thumb'] },
  ],
  [
    'POWER',
    'processor\t: 0\ncpu\t\t: POWER9\nprocessor\t: 1\n',
    { num_cpus: 2, cpu_model: 'POWER9', cpu_flags: [] },
  ],
  ['S/390', 'vendor_id       : IBM/S390\n# processors    : 4\n', { cpu_model: 'IBM/S390', cpu_flags: [] }],
  ['nothing', '', { num_cpus: 0, cpu_model: 'Unknown', cpu_flags: [] }],
])('processors of %s are found', (_, cpuinfo, expected) => {
  expect(processors(cpuinfo)).toMatchObject(expected)
})

test('the number of processors of S/390 is read from its own line', () => {
  expect(processors('# processors    : 4\nprocessor 0: version = FF\n').num_cpus).toBe(4)
})

test('memory is given in whole MiB', () => {
  expect(memory('MemTotal:       16384000 kB\nSwapTotal:       2097148 kB\n')).toEqual({
    mem_total: 16000,
    swap_total: 2047,
  })
})

test('processors and memory of this host are found', async () => {
  const { grains, lines } = await collectFrom(subject)
  expect(lines).toEqual([])
  expect(grains).toMatchObject({
    cpuarch: os.machine(),
    num_cpus: os.cpus().length,
    mem_total: Math.floor(os.totalmem() / 1024 ** 2),
    efi: expect.any(Boolean),
  })
})

import { expect, test } from 'vitest'
import { protectedArea, readHdparm } from '../../../../modules/_host/hdparm.ts'

const SHOWN = `
/dev/sda:
 look-ahead    =  1 (on)
 APM_level     = 254
 geometry      = 30401/255/63, sectors = 488397168, start = 0
 drive state is:  active/idle
 max sectors   = 488397168/490000000, HPA is enabled
 empty =
`

test('lines become values, as Salt names them', () => {
  expect(readHdparm(SHOWN)).toEqual({
    'look-ahead': [1, 'on'],
    apm_level: 254,
    geometry: [30401, 255, 63, { sectors: '488397168', start: '0' }],
    drive_state: ['active', 'idle'],
    max_sectors: [488397168, 490000000, 'HPA is enabled'],
  })
})

test('a protected area is the sectors that are not visible, if there are any', () => {
  expect(protectedArea({ max_sectors: [10, 15, 'HPA is enabled'] })).toEqual({
    total: 15,
    visible: 10,
    hidden: 5,
  })
  expect(protectedArea({ max_sectors: [15, 15, 'HPA is disabled'] })).toEqual({ total: 15 })
})

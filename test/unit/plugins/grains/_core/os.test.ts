import os from 'node:os'
import { describe, expect, test } from 'vitest'

import subject, { kernelParameters } from '../../../../../plugins/grains/_core/os.ts'
import { distribution } from '../../../../../plugins/grains/_os/distribution.ts'
import { collectFrom } from '../context.ts'

const files = {
  osRelease: undefined,
  lsbRelease: undefined,
  ownRelease: undefined,
  debianVersion: undefined,
}
const osRelease = (lines: Record<string, string>) =>
  Object.entries(lines)
    .map(([key, value]) => `${key}="${value}"`)
    .join('\n')

// What Salt 3006 says of these systems.
test.each([
  [
    'Debian',
    {
      NAME: 'Debian GNU/Linux',
      VERSION_ID: '12',
      VERSION: '12 (bookworm)',
      VERSION_CODENAME: 'bookworm',
      ID: 'debian',
    },
    {
      os: 'Debian',
      os_family: 'Debian',
      osfullname: 'Debian GNU/Linux',
      osrelease: '12',
      osrelease_info: [12],
      osmajorrelease: 12,
      oscodename: 'bookworm',
      osfinger: 'Debian-12',
    },
  ],
  [
    'Ubuntu',
    { NAME: 'Ubuntu', VERSION_ID: '22.04', VERSION_CODENAME: 'jammy', ID: 'ubuntu', ID_LIKE: 'debian' },
    {
      os: 'Ubuntu',
      os_family: 'Debian',
      osrelease: '22.04',
      osrelease_info: [22, 4],
      osmajorrelease: 22,
      oscodename: 'jammy',
      osfinger: 'Ubuntu-22.04',
    },
  ],
  [
    'Rocky Linux',
    {
      NAME: 'Rocky Linux',
      VERSION: '9.3 (Blue Onyx)',
      ID: 'rocky',
      ID_LIKE: 'rhel centos fedora',
      VERSION_ID: '9.3',
      PRETTY_NAME: 'Rocky Linux 9.3 (Blue Onyx)',
    },
    {
      os: 'Rocky',
      os_family: 'RedHat',
      osfullname: 'Rocky Linux',
      osrelease: '9.3',
      osmajorrelease: 9,
      oscodename: 'Blue Onyx',
      osfinger: 'Rocky Linux-9',
    },
  ],
  [
    'RHEL',
    {
      NAME: 'Red Hat Enterprise Linux',
      VERSION: '8.9 (Ootpa)',
      ID: 'rhel',
      ID_LIKE: 'fedora',
      VERSION_ID: '8.9',
      PRETTY_NAME: 'Red Hat Enterprise Linux 8.9 (Ootpa)',
    },
    {
      os: 'RedHat',
      os_family: 'RedHat',
      osrelease: '8.9',
      oscodename: 'Ootpa',
      osfinger: 'Red Hat Enterprise Linux-8',
    },
  ],
  [
    'openSUSE Leap',
    {
      NAME: 'openSUSE Leap',
      VERSION: '15.5',
      ID: 'opensuse-leap',
      ID_LIKE: 'suse opensuse',
      VERSION_ID: '15.5',
      PRETTY_NAME: 'openSUSE Leap 15.5',
      CPE_NAME: 'cpe:/o:opensuse:leap:15.5',
    },
    {
      os: 'SUSE',
      os_family: 'Suse',
      osfullname: 'Leap',
      osrelease: '15.5',
      osrelease_info: [15, 5],
      osfinger: 'Leap-15',
    },
  ],
  [
    'Alpine',
    { NAME: 'Alpine Linux', ID: 'alpine', VERSION_ID: '3.19.1', PRETTY_NAME: 'Alpine Linux v3.19' },
    { os: 'Alpine', os_family: 'Alpine', osrelease: '3.19.1', osrelease_info: [3, 19, 1] },
  ],
  [
    'an unknown derivative',
    { NAME: 'Foo Linux', ID: 'foo', ID_LIKE: 'ubuntu debian', VERSION_ID: '1' },
    { os: 'Foo', os_family: 'Debian', osfinger: 'Foo Linux-1' },
  ],
])('%s has the grains Salt gives it', (_, lines, expected) => {
  expect(distribution({ ...files, osRelease: osRelease(lines) })).toMatchObject(expected)
})

describe('Distributions', () => {
  test('the minor version of CentOS comes from its own release file', () => {
    const lines = osRelease({
      NAME: 'CentOS Linux',
      ID: 'centos',
      VERSION_ID: '7',
      PRETTY_NAME: 'CentOS Linux 7 (Core)',
    })
    const ownRelease = 'CentOS Linux release 7.9.2009 (Core)'
    expect(distribution({ ...files, osRelease: lines, ownRelease })).toMatchObject({
      os: 'CentOS',
      osrelease: '7.9.2009',
      osfinger: 'CentOS Linux-7',
      oscodename: 'CentOS Linux 7 (Core)',
    })
  })

  test('/etc/lsb-release gives the lsb grains, or else os-release', () => {
    const lines = osRelease({ NAME: 'Ubuntu', ID: 'ubuntu', VERSION_ID: '22.04', VERSION_CODENAME: 'jammy' })
    const lsbRelease =
      'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=\'22.04\'\nDISTRIB_DESCRIPTION="Ubuntu 22.04.4 LTS"\n'
    expect(distribution({ ...files, osRelease: lines, lsbRelease })).toMatchObject({
      lsb_distrib_id: 'Ubuntu',
      lsb_distrib_release: '22.04',
      lsb_distrib_description: 'Ubuntu 22.04.4 LTS',
    })
    expect(distribution({ ...files, osRelease: lines })).toMatchObject({ lsb_distrib_codename: 'jammy' })
  })

  test('a system without any such file is a Linux of unknown family', () => {
    expect(distribution(files)).toEqual({ os: 'Linux', os_family: 'Unknown', osfullname: 'Linux' })
  })
})

test('kernel parameters are pairs, also quoted ones', () => {
  expect(kernelParameters('quiet root=UUID=1 dyndbg="file a +p" x=\n')).toEqual([
    ['quiet', null],
    ['root', 'UUID=1'],
    ['dyndbg', 'file a +p'],
    ['x', ''],
  ])
})

test('kernel, distribution and init system of this host are found', async () => {
  const { grains, lines } = await collectFrom(subject)
  expect(lines).toEqual([])
  expect(grains).toMatchObject({
    kernel: 'Linux',
    kernelrelease: os.release(),
    nodename: os.hostname(),
    os: expect.any(String),
    os_family: expect.any(String),
    osarch: expect.any(String),
    init: expect.any(String),
  })
})

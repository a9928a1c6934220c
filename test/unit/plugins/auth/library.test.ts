import { expect, test } from 'vitest'
import { library, missingLibrary } from '../../../../plugins/auth/_library.ts'

const sentence =
  "The backend pam needs the npm package 'no-such-package', which is not installed here. Install it beside salt-ts: npm install no-such-package"

test('a missing package of a backend is named, with how to install it', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
  await expect(library('pam', 'no-such-package', () => Promise.reject(missing))).rejects.toThrow(sentence)
  expect(missingLibrary('pam', 'no-such-package')).toEqual([sentence])
  expect(missingLibrary('pam', 'koffi')).toEqual([])
})

test('the error of a broken package is shown', async () => {
  const broken = new SyntaxError('Unexpected token')
  await expect(library('pam', 'koffi', () => Promise.reject(broken))).rejects.toBe(broken)
})

/** Entry of the helper process of the backend file: compares passwords with slow hashes. */
import { library } from './_library.ts'
import { md5Crypt } from './_md5-crypt.ts'
import type { SlowKind } from './_password-hashes.ts'
import { sameText } from './_same-text.ts'
import { serve } from './_serve.ts'

export interface HashRequest {
  readonly kind: SlowKind
  readonly password: string
  readonly stored: string
}

const isPassword: Readonly<Record<SlowKind, (password: string, stored: string) => Promise<boolean>>> = {
  async bcrypt(password, stored) {
    const { default: bcrypt } = await library('file', 'bcryptjs', () => import('bcryptjs'))
    return bcrypt.compareSync(password, stored)
  },
  async 'md5-crypt'(password, stored) {
    const [, kind, salt = ''] = stored.split('$')
    return sameText(md5Crypt(password, `$${kind}$`, salt), stored)
  },
  async 'sha-crypt'(password, stored) {
    const { encrypt } = await library('file', 'unixcrypt', () => import('unixcrypt'))
    return sameText(encrypt(password, stored.slice(0, stored.lastIndexOf('$'))), stored)
  },
}

serve<HashRequest, boolean>('salt auth file', ({ kind, password, stored }) =>
  isPassword[kind](password, stored),
)

import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'ldapts'
import { selfSigned } from './certificate.ts'
import { startServer } from './server.ts'

export const LDAP_BASE = 'dc=example,dc=com'
const LDAP_ADMIN = `cn=admin,${LDAP_BASE}`
const ADMIN_PASSWORD = 'the password of admin'

const configuration = (folder: string): string => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile ${folder}/pid
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
allow bind_anon_cred bind_anon_dn
database mdb
suffix "${LDAP_BASE}"
rootdn "${LDAP_ADMIN}"
rootpw "${ADMIN_PASSWORD}"
directory ${folder}/data
overlay memberof
access to attrs=userPassword by anonymous auth by * none
access to * by * read
`

/** An OpenLDAP with these entries (LDIF), and TLS for 127.0.0.1 and localhost by `cert.pem` in its folder. */
export const startSlapd = (scheme: 'ldap' | 'ldaps', ldif: string) =>
  startServer(
    '/usr/sbin/slapd',
    ({ folder, port }) => ['-d', '0', '-f', `${folder}/slapd.conf`, '-h', `${scheme}://127.0.0.1:${port}/`],
    {
      async init(folder) {
        await selfSigned(folder)
        mkdirSync(join(folder, 'data'))
        writeFileSync(join(folder, 'slapd.conf'), configuration(folder))
        writeFileSync(join(folder, 'entries.ldif'), ldif)
        return ['/usr/sbin/slapadd', '-f', `${folder}/slapd.conf`, '-l', `${folder}/entries.ldif`]
      },
      async ready(port) {
        const client = new Client({
          url: `${scheme}://127.0.0.1:${port}`,
          ...(scheme === 'ldaps' && { tlsOptions: { rejectUnauthorized: false } }),
          connectTimeout: 2000,
        })
        await client.bind(LDAP_ADMIN, ADMIN_PASSWORD)
        await client.unbind()
      },
    },
  )

/** As `slappasswd` makes it. */
export function ldapHash(password: string): string {
  const salt = randomBytes(8)
  const digest = createHash('sha1').update(password).update(salt).digest()
  return `{SSHA}${Buffer.concat([digest, salt]).toString('base64')}`
}

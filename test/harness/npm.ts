import { execa } from 'execa'

/** Environment variable with the value that `NODE_EXTRA_CA_CERTS` had when the tests began. */
export const NPM_CERTIFICATES = 'SALT_TEST_NPM_CERTIFICATES'

/** Run npm in a folder. It trusts the registry, or the proxy before it, as it does outside of the tests. */
export function npm(cwd: string, ...words: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return execa('npm', words, { cwd, env: { NODE_EXTRA_CA_CERTS: process.env[NPM_CERTIFICATES] } })
}

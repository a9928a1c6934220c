/** Entry of the helper process of the backend pam. */
import { openPam, type PamAnswer, type PamRequest } from './_pam-library.ts'
import { serve } from './_serve.ts'

const opened = openPam()
opened.catch(() => undefined) // each request reports it

serve<PamRequest | { readonly ready: true }, PamAnswer | undefined>('salt auth pam', async (request) => {
  const verify = await opened
  return 'ready' in request ? undefined : verify(request)
})

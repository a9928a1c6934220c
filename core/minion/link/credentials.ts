import type { SignInKeys } from '../../channel/sign-in-client.ts'

/** Keeps the keys that a master gave this minion at its sign-in, until they are stale. Concurrent callers share one sign-in. */
export class Credentials {
  readonly #signIn: () => Promise<SignInKeys>
  #pending: Promise<SignInKeys> | undefined
  #current: SignInKeys | undefined

  constructor(signIn: () => Promise<SignInKeys>) {
    this.#signIn = signIn
  }

  /** Whether the minion has signed in and has not found out that the credentials are stale. */
  get areValid(): boolean {
    return this.#current !== undefined
  }

  /** Sign in if that has not been done. Rejects with the errors of the sign-in, also later. */
  get(): Promise<SignInKeys> {
    if (this.#pending) return this.#pending
    const pending = this.#signIn()
    this.#pending = pending
    pending.then(
      (current) => {
        if (this.#pending === pending) this.#current = current
      },
      () => {}, // the caller gets it
    )
    return pending
  }

  /** Sign in again, unless another caller has replaced the stale credentials. */
  renew(stale: SignInKeys): Promise<SignInKeys> {
    if (this.#current === stale) this.forget()
    return this.get()
  }

  forget(): void {
    this.#current = undefined
    this.#pending = undefined
  }
}

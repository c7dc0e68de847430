// Package account is signing in and out, the first account and invitations, and what people set for
// themselves: password and sessions.
//
// A session is an opaque secret in a cookie (site.CookieKind); who that is stands in the
// database. Signing in makes a new secret and ends the session that the browser had. A form that
// met an expired session is carried through signing in, and sent only if the person asks for it.
// Pages that show a secret are never compressed.
package account

// Package account signs people in and out, makes the first account, sends invitations, and lets people change their
// password and end their sessions.
//
// A session is an opaque secret in a cookie (site.CookieKind); the database knows whose it is. Signing in makes a new
// secret and ends the session that the browser had. A form that meets an expired session is kept while its sender
// signs in, and sent only if they confirm. Pages that show a secret are never compressed.
package account

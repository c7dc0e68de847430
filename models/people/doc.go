// Package people keeps the users, their agents and every way in: passwords, sessions, tokens, invites and the set-up
// link.
//
// A credential is a long random secret that is shown once and stored as a hash. Its user is read from a cache, which
// every change of access drops, here or in another process; so a lost right counts for nothing from the next request
// on, and open waits and streams hear of it (Options.OnAccess). Passwords are hashed a few at a time, and those
// that fail are counted by account and by address.
//
// The room comes before the store and knows nothing of requests: when somebody loses the right to decide,
// Options.Stranded ends requests without a possible approver, within the same transaction.
package people

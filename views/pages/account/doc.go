// Package account holds the pages of one person: signing in, setting up, joining, the password,
// sessions, notifications, and Channels, the ways in which somebody is told. Groups and the
// system use channels too.
//
// No page here gives back a password, and a secret only to who has just typed it.
package account

// Package account holds the pages of one person: signing in, setting up, joining, the password, sessions,
// notifications, and Channels, the ways to send somebody notifications. Groups and the system use channels too.
//
// No page here gives back a password, and a secret only to the person who has just typed it.
package account

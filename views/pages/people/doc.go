// Package people holds the pages of persons and groups: who is invited, may sign in or is an admin, who is in which
// group and how it gets notifications, and who is away and decides instead.
package people
